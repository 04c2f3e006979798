// The tool's standard input, as the supervisor handles it.
//
// A descriptor gives more than bytes: its holder can truncate the file, change its mode and times, and reopen it
// through /proc. So the tool reads from a pipe of ours, and the supervisor copies. It stops reading while the pipe is
// full, so at most one chunk is in memory, however large the input is.
#pragma once

#include <poll.h>

#include <cstddef>
#include <vector>

#include "os/pipe.h"
#include "sallyport/jail.h"
#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport::spawn {

// Which null device a tool without input gets: a jail has one of its own.
enum class NullDevice { kOfTheHost, kOfTheJail };

class ToolInput {
 public:
  // Refuses what cannot be read as a stream: a directory, or a descriptor that is not open for reading.
  [[nodiscard]] static Result<ToolInput> open(const StdinSource& source, NullDevice null_device);

  // The tool's stdin; negative: the jail's null device.
  [[nodiscard]] int tools_end() const { return given_.get(); }
  // Call when the tool has its copy.
  void handed_over();

  // What to poll before the next copy(); a negative descriptor when nothing is left to copy.
  [[nodiscard]] pollfd awaited() const;
  // Never blocks. An error means that the input could not be read to its end.
  [[nodiscard]] Status copy();

 private:
  enum class Kind { kFile, kSocket, kOther };

  [[nodiscard]] static Result<ToolInput> copied(int borrowed);
  [[nodiscard]] ssize_t read_some();

  // We keep the tool's end of a pipe open too, so that writing never raises SIGPIPE in a process whose signals are not
  // ours. A tool that closes its input just leaves the pipe full.
  UniqueFd given_;
  UniqueFd source_;
  UniqueFd into_;
  Kind kind_ = Kind::kOther;
  std::vector<char> chunk_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace sallyport::spawn
