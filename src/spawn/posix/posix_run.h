// A run that a wrapper confines (sandbox-exec on macOS), started and reported with POSIX alone: posix_spawn, a socket pair, an
// init of ours inside the wrapper (spawn/posix/init.cc). Compiles without any header of Linux; a test builds it that way.
//
// What a process group cannot do, this cannot: a process that leaves its group outlives a stop. No jail that starts runs like
// this may list limit.wall or proc.dies_with_parent.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sallyport/jail_port.h"
#include "sallyport/result.h"

namespace sallyport::spawn::posix {

struct Launch {
  std::vector<std::string> wrapper{};  // absolute, with its arguments; what it is to start follows
  std::string init{};                  // absolute path of our program inside
  std::vector<ResourceLimit> limits{};
  std::string exe{};  // absolute
  std::vector<std::string> argv{};
  std::vector<std::string> env{};
  int cwd = -1;  // borrowed
};

// The command that the wrapper starts: our init, with all it needs to know.
[[nodiscard]] std::vector<std::string> command_of(const Launch& launch);

// `connections`: over which the tool's connections come (spawn/wire/handed.h), when it may make any.
[[nodiscard]] Result<std::unique_ptr<LiveRun>> start_run(const Launch& launch, const ToolStreams& streams,
                                                         UniqueFd connections = {});

}  // namespace sallyport::spawn::posix
