#include "cli/console.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/exit_code.h"
#include "cli/log_commands.h"
#include "cli/option_words.h"
#include "cli/outlet.h"
#include "core/errors.h"
#include "core/text/printable.h"

namespace sallyport::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostWaiting = std::size_t{64} << 10U;
constexpr std::string_view kPlainAttributes = "\x1B[0m";

// There is one stderr, and the egress thread writes to it too.
struct Messages {
  std::mutex mutex{};
  std::optional<Outlet> outlet{};
  std::string waiting{};  // for a reader that does not read
  bool lost = false;
  bool during_run = false;
  int stop_fd = -1;
  milliseconds patience = kReaderPatience;
  bool in_build_log = false;
  std::function<void()> before_line{};
};

Messages& messages() {
  static Messages all;
  return all;
}

std::atomic<char>& last_on_terminal() {
  static std::atomic<char> last{'\n'};
  return last;
}

void flush_now(Messages& all) {
  while (!all.waiting.empty()) {
    const ssize_t written = all.outlet->write_some(all.waiting);
    if (written >= 0) {
      all.waiting.erase(0, static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      if (errno != EAGAIN) all.waiting.clear();  // a message that cannot be written has nowhere else to go
      return;
    }
  }
}

// The tool's earlier output must neither hide nor join our line.
std::string on_terminal(std::string line) {
  const bool begins_line = last_on_terminal().exchange('\n') == '\n';
  return fmt::format("{}{}{}", begins_line ? "" : "\n", kPlainAttributes, line);
}

void print_stderr(std::string line) {
  line.push_back('\n');
  Messages& all = messages();
  const std::scoped_lock lock(all.mutex);
  if (all.before_line) all.before_line();
  if (!all.outlet) all.outlet.emplace(STDERR_FILENO);
  if (all.in_build_log) line = LogCommandFilter().filter(line);
  if (all.outlet->is_terminal()) line = on_terminal(std::move(line));
  if (!all.during_run) {
    line.insert(0, std::exchange(all.waiting, {}));
    // If the reader has stopped reading, do not wait again for every line.
    if (all.outlet->write_all(line, all.patience, all.stop_fd) == ETIMEDOUT) all.patience = milliseconds(0);
    return;
  }
  if (all.waiting.size() + line.size() > kMostWaiting) {
    all.lost = true;
  } else {
    all.waiting += line;
  }
  flush_now(all);
  if (all.waiting.empty() && std::exchange(all.lost, false)) all.waiting = "sallyport: some messages were lost\n";
}

void print_error(const Error& given) {
  const Error error = in_options(given);
  say(fmt::format("error: {}", error.message));
  if (!error.hint.empty()) say_hint(error.hint);
}

int exit_code_after(int write_error, int code) {
  if (write_error == 0) return code;
  if (write_error == EPIPE) return exit_code_of_signal(SIGPIPE);
  if (write_error == ECANCELED) return exit_code_of_signal(SIGINT);
  print_error(system_error("write", "stdout", write_error, "is its reader, or the disk behind it, still there?"));
  return kExitRefused;
}

}  // namespace

void secure_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is fd itself. Opened in the wrong direction on purpose, so that use is an error, not a
    // silent success.
    (void)open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

void expect_build_log(bool in_build_log) { messages().in_build_log = in_build_log; }
bool in_build_log() { return messages().in_build_log; }

SayingDuringRun::SayingDuringRun(int stop_fd, milliseconds timeout) {
  Messages& all = messages();
  const std::scoped_lock lock(all.mutex);
  all.during_run = true;
  all.stop_fd = stop_fd;
  all.patience = std::clamp<milliseconds>(timeout / 10, milliseconds(20), milliseconds(1000));
}

SayingDuringRun::~SayingDuringRun() {
  Messages& all = messages();
  const std::scoped_lock lock(all.mutex);
  all.during_run = false;
  // An earlier signal has ended the run; still report that end to the reader.
  pollfd stop{all.stop_fd, POLLIN, 0};
  if (::poll(&stop, 1, 0) > 0) all.stop_fd = -1;
  if (!all.outlet || all.waiting.empty()) return;
  const std::string rest = std::exchange(all.waiting, {});
  if (all.outlet->write_all(rest, all.patience, all.stop_fd) == ETIMEDOUT) all.patience = milliseconds(0);
}

void note_terminal_text(char last) { last_on_terminal().store(last); }

bool at_line_start() { return last_on_terminal().load() == '\n'; }

void before_each_line(std::function<void()> call) {
  Messages& all = messages();
  const std::scoped_lock lock(all.mutex);
  all.before_line = std::move(call);
}

void say(std::string_view text) { print_stderr(fmt::format("sallyport: {}", printable(text))); }

void say_hint(std::string_view text) {
  print_stderr(fmt::format("hint: {}", printable(in_options(std::string(text)))));
}

int print_text(std::string_view text, int code) {
  Outlet outlet(STDOUT_FILENO);
  return exit_code_after(outlet.write_all(text, kReaderPatience, messages().stop_fd), code);
}

int print_record(const Json& record, int code) {
  std::string text = json_dump(record) + "\n";
  if (in_build_log()) text = without_log_commands(std::move(text));
  return print_text(text, code);
}

int print_run_record(const JailedSubprocessResult& result, const Json& events, int code) {
  Outlet outlet(STDOUT_FILENO);
  int error = 0;
  bool after_hash = false;
  const auto send = [&](std::string_view piece) {
    std::string plain;
    if (in_build_log()) {
      // Two hashes that meet at a boundary of pieces count, too.
      plain = without_log_commands((after_hash ? "#" : "") + std::string(piece)).substr(after_hash ? 1 : 0);
      after_hash = plain.ends_with('#');
      piece = plain;
    }
    error = outlet.write_all(piece, kReaderPatience, messages().stop_fd);
    return error == 0;
  };
  if (stream_run_record(result, events, send)) static_cast<void>(send("\n"));
  return exit_code_after(error, code);
}

int report(const Error& error, Format format) {
  if (format == Format::kJson) return print_record(error_record(in_options(error)), exit_code_of(error));
  print_error(error);
  return exit_code_of(error);
}

}  // namespace sallyport::cli
