// The tool's standard input, as the supervisor handles it.
//
// A descriptor is more than bytes: whoever holds one of a file can truncate it, change its mode and times, and reopen it
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

// Who opens the null device for a tool that has no input: a jail has one of its own.
enum class NullDevice { kOfTheHost, kOfTheJail };

class ToolInput {
 public:
  // Refuses what cannot be read as a stream: a directory, a descriptor that is not open for reading.
  [[nodiscard]] static Result<ToolInput> open(const StdinSource& source, NullDevice null_device);

  // For the tool; negative: the jail's null device.
  [[nodiscard]] int tools_end() const { return given_.get(); }
  // The tool has its copy.
  void handed_over();

  // What to wait for before the next copy(); nothing (a negative descriptor) when there is none to come.
  [[nodiscard]] pollfd awaited() const;
  // Never waits. An error means that the input could not be read to its end.
  [[nodiscard]] Status copy();

 private:
  enum class Kind { kFile, kSocket, kOther };

  [[nodiscard]] static Result<ToolInput> copied(int borrowed);
  [[nodiscard]] ssize_t read_some();

  // Of a pipe it stays open here too. So writing never raises SIGPIPE, in a process whose signals are not ours; a tool that
  // closes its input just leaves the pipe full.
  UniqueFd given_;
  UniqueFd source_;
  UniqueFd into_;
  Kind kind_ = Kind::kOther;
  std::vector<char> chunk_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace sallyport::spawn
