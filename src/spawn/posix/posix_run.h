// A run that a wrapper confines (sandbox-exec on macOS), with POSIX alone: posix_spawn, a socket pair, an init of ours
// inside the wrapper (spawn/posix/init.cc). Compiles without Linux headers; a test builds it that way.
//
// It can stop only a process group: a process that leaves its group outlives a stop. So a jail that starts runs like
// this must not list limit.wall or proc.dies_with_parent.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sallyport/jail_port.h"
#include "sallyport/result.h"

namespace sallyport::spawn::posix {

struct Launch {
  std::vector<std::string> wrapper{};  // absolute, with its arguments; the command that it starts follows
  std::string init{};                  // absolute path of our program inside
  std::vector<ResourceLimit> limits{};
  std::string exe{};  // absolute
  std::vector<std::string> argv{};
  std::vector<std::string> env{};
  int cwd = -1;  // borrowed
};

// The command that the wrapper starts: our init with its arguments.
[[nodiscard]] std::vector<std::string> command_of(const Launch& launch);

// `connections`: the socket over which the tool's connections come (spawn/wire/handed.h), when it may make any.
[[nodiscard]] Result<std::unique_ptr<LiveRun>> start_run(const Launch& launch, const ToolStreams& streams,
                                                         UniqueFd connections = {});

}  // namespace sallyport::spawn::posix
