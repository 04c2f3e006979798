// What a traced program did, according to strace. Pure; accepts any bytes (fuzz/strace_text).
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "jobs/probe/parsers.h"

namespace sallyport::jobs {

// Paths are bytes, as the program gave them or as the kernel resolved them.
struct Trace {
  std::set<std::string> programs{};       // executed
  std::set<std::string> written{};        // opened for writing
  std::set<std::string> write_refused{};  // the same, without success
  std::set<std::string> read{};           // opened for reading, whether or not it was there
  std::set<std::string> sockets{};        // connected to, or tried: paths of Unix sockets
  std::set<std::string> addresses{};      // connected to, or tried: IP addresses
  bool reached_for_tracer = false;        // it traced a process, or sent a signal to its tracer
  std::string end{};                      // "exited with 0": of the first process, when strace saw it
};

// An error when the text names no program at all: then strace did not trace.
[[nodiscard]] OrWhy<Trace> parse_strace(std::string_view text);

}  // namespace sallyport::jobs
