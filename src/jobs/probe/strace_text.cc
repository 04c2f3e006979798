// What `strace -f -q -y` printed, read line by line. The traced program writes to the same stream, so we search for a
// call anywhere in a line: the program can add lines, but cannot remove any.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include "jobs/probe/strace_text.h"

namespace sallyport::jobs {
namespace {

constexpr std::size_t kMostEntries = 100'000;    // of each kind: what a trace of a few seconds never reaches
constexpr std::size_t kMostUnfinished = 10'000;  // calls of different threads that are under way at once
constexpr std::string_view kUnfinished = "<unfinished ...>";

constexpr auto kCalls = std::to_array<std::string_view>(
    {"execve", "execveat", "open", "openat", "openat2", "creat", "connect", "ptrace", "kill", "tkill", "tgkill"});

bool is_word_char(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

struct Call {
  std::string_view name{};
  std::string_view arguments{};  // what stands behind the parenthesis
  std::string_view result{};     // what stands behind the last ") = "
};

std::optional<Call> call_in(std::string_view line) {
  std::optional<Call> found;
  std::size_t first = std::string_view::npos;
  for (const std::string_view name : kCalls) {
    for (std::size_t at = line.find(name); at < first; at = line.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      if (end >= line.size() || line[end] != '(' || (at > 0 && is_word_char(line[at - 1]))) continue;
      first = at;
      found = Call{.name = name, .arguments = line.substr(end + 1)};
      break;
    }
  }
  if (!found) return std::nullopt;
  // strace pads a short call with blanks before the equals sign.
  const std::size_t equals = found->arguments.rfind(" = ");
  if (equals == std::string_view::npos) return std::nullopt;
  found->result = found->arguments.substr(equals + 3);
  found->arguments = found->arguments.substr(0, equals);
  return found;
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// One escape of strace's strings, behind its backslash.
char unescaped(std::string_view text, std::size_t& at) {
  constexpr std::string_view kNames = "ntrvfab";
  constexpr std::string_view kBytes = "\n\t\r\v\f\a\b";
  const char c = text[at];
  if (is_octal(c)) {
    int value = 0;
    std::size_t digits = 0;
    for (; digits < 3 && at < text.size() && is_octal(text[at]); ++digits, ++at) value = value * 8 + (text[at] - '0');
    return static_cast<char>(value);
  }
  ++at;
  const std::size_t name = kNames.find(c);
  return name == std::string_view::npos ? c : kBytes[name];
}

// The first string in quotes; nothing when there is none or it is not closed.
std::optional<std::string> quoted(std::string_view text) {
  const std::size_t open = text.find('"');
  if (open == std::string_view::npos) return std::nullopt;
  std::string value;
  for (std::size_t at = open + 1; at < text.size();) {
    const char c = text[at++];
    if (c == '"') return value;
    if (c != '\\') {
      value += c;
    } else if (at < text.size()) {
      value += unescaped(text, at);
    }
  }
  return std::nullopt;
}

// "3</a/file>": the path a descriptor stands for.
std::optional<std::string> decoded_fd(std::string_view text) {
  const std::size_t open = text.find('<');
  if (open == std::string_view::npos || (open + 1 < text.size() && text[open + 1] != '/')) return std::nullopt;
  const std::size_t close = text.rfind('>');
  if (close == std::string_view::npos || close <= open) return std::nullopt;
  return std::string(text.substr(open + 1, close - open - 1));
}

// The path a call names, counted from the directory that strace names beside it.
std::optional<std::string> path_of(std::string_view arguments) {
  std::optional<std::string> path = quoted(arguments);
  if (!path || path->starts_with('/')) return path;
  const std::optional<std::string> directory = decoded_fd(arguments.substr(0, arguments.find('"')));
  if (!directory) return path;
  return path->empty() ? directory : fmt::format("{}/{}", *directory, *path);
}

bool succeeded(const Call& call) { return !call.result.starts_with("-1") && !call.result.starts_with('?'); }

bool is_write(const Call& call) {
  if (call.name == "creat") return true;
  constexpr std::array<std::string_view, 4> kFlags = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"};
  // Search only after the path: the program chooses the path's bytes.
  const std::string_view flags = call.arguments.substr(call.arguments.rfind('"') + 1);
  return std::ranges::any_of(kFlags, [&](std::string_view flag) { return flags.find(flag) != std::string_view::npos; });
}

void add_open(const Call& call, Trace& trace) {
  const std::optional<std::string> named = path_of(call.arguments);
  if (!named) return;
  if (!is_write(call)) {
    trace.read.insert(*named);
    return;
  }
  const std::optional<std::string> opened = succeeded(call) ? decoded_fd(call.result) : std::nullopt;
  (succeeded(call) ? trace.written : trace.write_refused).insert(opened.value_or(*named));
}

void add_connect(const Call& call, Trace& trace) {
  if (call.arguments.find("AF_UNIX") != std::string_view::npos) {
    if (const auto path = quoted(call.arguments)) trace.sockets.insert(*path);
    return;
  }
  const bool four = call.arguments.find("sa_family=AF_INET,") != std::string_view::npos;
  const bool six = call.arguments.find("sa_family=AF_INET6,") != std::string_view::npos;
  if (!four && !six) return;
  // inet_addr("1.2.3.4"), inet_pton(AF_INET6, "::1", &sin6_addr)
  if (const auto address = quoted(call.arguments)) trace.addresses.insert(*address);
}

// The first process of a jail after its init, or of a container; -1 means every process.
bool is_tracer(std::string_view arguments) {
  const std::string_view target = arguments.substr(0, arguments.find_first_of(",)"));
  return target == "1" || target == "2" || target == "-1";
}

void add_call(const Call& call, Trace& trace) {
  if (call.name == "execve" || call.name == "execveat") {
    if (const auto path = path_of(call.arguments); path && succeeded(call)) trace.programs.insert(*path);
  } else if (call.name == "connect") {
    add_connect(call, trace);
  } else if (call.name == "ptrace" || call.name.ends_with("kill")) {
    trace.reached_for_tracer = trace.reached_for_tracer || call.name == "ptrace" || is_tracer(call.arguments);
  } else {
    add_open(call, trace);
  }
}

// "[pid    12] " at the start, or somewhere behind what the program itself has printed.
std::uint32_t take_pid(std::string_view& line) {
  constexpr std::string_view kMark = "[pid ";
  const std::size_t at = line.find(kMark);
  if (at == std::string_view::npos) return 0;
  std::string_view rest = line.substr(at + kMark.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  std::uint32_t pid = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), pid);
  const auto digits = static_cast<std::size_t>(end - rest.data());
  if (error != std::errc() || !rest.substr(digits).starts_with("] ")) return 0;
  line = rest.substr(digits + 2);
  return pid;
}

// "+++ exited with 0 +++" of the first process.
void take_end(std::string_view line, Trace& trace) {
  constexpr std::string_view kMark = "+++ ";
  constexpr std::string_view kEnd = " +++";
  if (!line.starts_with(kMark) || !line.ends_with(kEnd) || line.size() < kMark.size() + kEnd.size()) return;
  const std::string_view how = line.substr(kMark.size(), line.size() - kMark.size() - kEnd.size());
  if (how.starts_with("exited with ") || how.starts_with("killed by ")) trace.end = how;
}

bool too_many(const Trace& trace) {
  return std::max({trace.programs.size(), trace.written.size(), trace.write_refused.size(), trace.read.size(),
                   trace.sockets.size(), trace.addresses.size()}) > kMostEntries;
}

}  // namespace

OrWhy<Trace> parse_strace(std::string_view text) {
  Trace trace;
  std::map<std::uint32_t, std::string> unfinished;  // by thread: a call that another one's line has cut in two
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::uint32_t pid = take_pid(line);
    if (pid == 0) take_end(line, trace);
    const std::size_t resumed = line.find(" resumed>");
    std::string joined;
    if (resumed != std::string_view::npos) {
      joined = std::move(unfinished[pid]).append(line.substr(resumed + 9));
      unfinished.erase(pid);
      line = joined;
    }
    if (line.ends_with(kUnfinished)) {
      unfinished[pid] = line.substr(0, line.size() - kUnfinished.size());
      if (unfinished.size() > kMostUnfinished) return std::unexpected(std::string("too many calls under way at once"));
      continue;
    }
    if (const auto call = call_in(line)) add_call(*call, trace);
    if (too_many(trace)) return std::unexpected(fmt::format("more than {} different entries", kMostEntries));
  }
  // Count a call that never returned: the program's end interrupted it.
  for (const auto& [pid, cut] : unfinished) {
    const std::string line = cut + " = ?";
    if (const auto call = call_in(line)) add_call(*call, trace);
  }
  if (trace.programs.empty()) return std::unexpected(std::string("it names no program that was started"));
  return trace;
}

}  // namespace sallyport::jobs
