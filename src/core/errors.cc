#include "core/errors.h"

#include <fmt/format.h>

#include <cerrno>

#include <cstring>
#include <system_error>

#include "core/text/printable.h"
#include "core/text/units.h"

namespace sallyport {

std::string errno_text(int error_number) {
#ifdef __GLIBC__
  // Untranslated and thread-safe, unlike strerror(3).
  const char* const text = strerrordesc_np(error_number);
  std::string message = text != nullptr ? text : fmt::format("error {}", error_number);
#else
  std::string message = std::generic_category().message(error_number);
#endif
  const bool is_word = message.size() > 1 && message[0] >= 'A' && message[0] <= 'Z' && message[1] >= 'a';
  if (is_word) message[0] = static_cast<char>(message[0] - 'A' + 'a');
  return message;
}

Error disallowed_subprocess(std::string_view tool, std::string_view why, std::string_view hint) {
  return {.detail = DisallowedSubprocessError{.tool = std::string(tool)},
          .message = fmt::format("refused tool '{}': {}", printable(tool), why),
          .hint = printable(hint)};
}

Error invalid_probe_name(std::string_view probe) {
  return {.detail = InvalidProbeName{.probe = std::string(probe)},
          .message = fmt::format("invalid probe name '{}': must match ^[a-z][a-z0-9_]{{0,63}}$", printable(probe)),
          .hint = "start with a lower-case letter; use only a-z, 0-9 and _, at most 64 characters"};
}

Error invalid_request(std::string_view field, std::string_view why, std::string_view hint) {
  return {.detail = InvalidRequest{.field = std::string(field)},
          .message = fmt::format("invalid {}: {}", printable(field), printable(why)),
          .hint = printable(hint)};
}

Error policy_error(std::string_view file, unsigned line, unsigned column, std::string_view why, std::string_view hint) {
  const std::string place = line == 0 ? printable(file) : fmt::format("{}:{}:{}", printable(file), line, column);
  return {.detail = PolicyError{.file = std::string(file), .line = line, .column = column},
          .message = fmt::format("invalid policy {}: {}", place, printable(why)),
          .hint = printable(hint)};
}

Error tool_missing(std::string_view tool, std::string_view install_hint) {
  return {.detail = ToolMissingError{.tool = std::string(tool), .install_hint = std::string(install_hint)},
          .message = fmt::format("missing tool '{}': not found in the trusted search path", printable(tool)),
          .hint = install_hint.empty() ? fmt::format("install {}", printable(tool))
                                       : fmt::format("install it: {}", printable(install_hint))};
}

Error untrusted_tool(std::string_view tool, std::string_view path, std::string_view why, std::string_view hint) {
  return {.detail = UntrustedToolError{.tool = std::string(tool), .path = std::string(path)},
          .message = fmt::format("untrusted tool '{}' at {}: {}", printable(tool), printable(path), printable(why)),
          .hint = printable(hint)};
}

Error tool_not_runnable(std::string_view tool, std::string_view path, std::string_view why, std::string_view hint) {
  return {.detail = ToolNotRunnable{.tool = std::string(tool), .path = std::string(path)},
          .message = fmt::format("cannot run '{}' at {}: {}", printable(tool), printable(path), printable(why)),
          .hint = printable(hint)};
}

Error probe_timeout(std::string_view tool, std::chrono::milliseconds elapsed) {
  return {.detail = ProbeTimeoutError{.tool = std::string(tool), .elapsed = elapsed},
          .message = fmt::format("timed out '{}': ended after {}", printable(tool), format_duration(elapsed)),
          .hint = "give it more time, or less to do"};
}

Error cancelled(std::string_view tool, std::chrono::milliseconds elapsed) {
  return {
      .detail = CancelledError{.tool = std::string(tool), .elapsed = elapsed},
      .message = fmt::format("cancelled '{}': ended by its caller after {}", printable(tool), format_duration(elapsed)),
      .hint = {}};
}

Error limit_exceeded(std::string_view tool, ExceededLimit limit, std::string_view why) {
  return {.detail = LimitExceededError{.tool = std::string(tool), .limit = limit},
          .message = fmt::format("ended '{}': {}", printable(tool), printable(why)),
          .hint = "raise the limit, or give the tool less to do"};
}

Error guarantee_unavailable(Guarantee guarantee, std::string_view why, std::string_view hint) {
  return {.detail = GuaranteeUnavailable{.guarantee = guarantee},
          .message = fmt::format("cannot establish {}: {}", name_of(guarantee), printable(why)),
          .hint = printable(hint)};
}

Error jail_unavailable(JailKind jail, std::string_view why, std::string_view hint) {
  return {.detail = JailUnavailable{.jail = jail},
          .message = fmt::format("cannot use jail '{}': {}", printable(jail.name()), printable(why)),
          .hint = printable(hint)};
}

namespace {

// What a user can change, in the shell's words.
std::string_view usual_hint(int error_number) {
  switch (error_number) {
    case EMFILE:
    case ENFILE:
      return "too many files are open; raise the limit with 'ulimit -n' or run less at once";
    case EFBIG:
      return "files may not grow that large here; raise the limit with 'ulimit -f'";
    case EAGAIN:
      return "no more processes can be started; raise the limit with 'ulimit -u' or run less at once";
    default:
      return {};
  }
}

}  // namespace

Error jail_died(JailKind jail, int wait_status) {
  constexpr int kSignalMask = 0x7f;
  const int by_signal = wait_status & kSignalMask;
  const std::string how = by_signal != 0 ? fmt::format("was killed by signal {}", by_signal)
                                         : fmt::format("left with {}", (wait_status >> 8) & 0xff);
  return {.detail = JailDied{.jail = jail, .wait_status = wait_status},
          .message = fmt::format("lost jail '{}': its first process {}, so the tool's own end is not known",
                                 printable(jail.name()), how),
          .hint =
              "something outside the run ended it: a limit of the caller's (ulimit -t), an operator, or the "
              "out-of-memory killer"};
}

Error setup_failed(const SetupFailed& failure, std::string_view hint) {
  return {
      .detail = failure,
      .message = fmt::format("set-up failed at {}: {}", stage_name(failure.stage), errno_text(failure.error_number)),
      .hint = printable(hint.empty() ? usual_hint(failure.error_number) : hint)};
}

Error audit_failed(std::string_view log, int error_number, std::string_view why, std::string_view hint) {
  return {.detail = AuditFailed{.log = std::string(log), .error_number = error_number},
          .message = fmt::format("cannot record the call in {}: {}", printable(log), printable(why)),
          .hint = printable(hint)};
}

Error system_error(std::string_view operation, std::string_view subject, int error_number, std::string_view hint) {
  const std::string what =
      subject.empty() ? std::string(operation) : fmt::format("{} {}", operation, printable(subject));
  return {.detail = SystemError{.operation = std::string(operation), .error_number = error_number},
          .message = fmt::format("cannot {}: {}", what, errno_text(error_number)),
          .hint = printable(hint.empty() ? usual_hint(error_number) : hint)};
}

}  // namespace sallyport
