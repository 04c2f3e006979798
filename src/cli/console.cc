#include "cli/console.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "cli/exit_code.h"
#include "core/errors.h"
#include "core/printable.h"

namespace sallyport::cli {
namespace {

// 0 or the errno. Unlike files, our streams may have been made non-blocking by whoever shares them with us.
int write_stream(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd target{fd, POLLOUT, 0};
      (void)poll(&target, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

void print_stderr(std::string line) {
  line.push_back('\n');
  // A message that cannot be told has nowhere else to go.
  (void)write_stream(STDERR_FILENO, line);
}

void print_error(const Error& error) {
  say(fmt::format("error: {}", error.message));
  if (!error.hint.empty()) say_hint(error.hint);
}

}  // namespace

void secure_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is fd itself. The wrong direction on purpose: use is an error, not a silent success.
    (void)open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

void say(std::string_view text) { print_stderr(fmt::format("sallyport: {}", printable(text))); }

void say_hint(std::string_view text) { print_stderr(fmt::format("hint: {}", printable(text))); }

int print_text(std::string_view text, int code) {
  const int error = write_stream(STDOUT_FILENO, text);
  if (error == 0) return code;
  if (error == EPIPE) return exit_code_of_signal(SIGPIPE);
  print_error(system_error("write", "stdout", error, "is its reader, or the disk behind it, still there?"));
  return kExitRefused;
}

int print_record(const Json& record, int code) { return print_text(json_dump(record) + "\n", code); }

int report(const Error& error, Format format) {
  if (format == Format::kJson) return print_record(error_record(error), exit_code_of(error));
  print_error(error);
  return exit_code_of(error);
}

}  // namespace sallyport::cli
