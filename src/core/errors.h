// Makes Error values, so that every layer words the same error in the same way: "<what> <subject>: <why>", lower case,
// one line. Subjects may be arbitrary bytes (argv, paths); they are made printable here, once.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "sallyport/error.h"
#include "sallyport/jail_kind.h"

namespace sallyport {

// "no such file or directory"; thread-safe and independent of the locale.
[[nodiscard]] std::string errno_text(int error_number);

[[nodiscard]] Error disallowed_subprocess(std::string_view tool, std::string_view why, std::string_view hint);
[[nodiscard]] Error invalid_probe_name(std::string_view probe);
[[nodiscard]] Error invalid_request(std::string_view field, std::string_view why, std::string_view hint = {});
[[nodiscard]] Error policy_error(std::string_view file, unsigned line, unsigned column, std::string_view why,
                                 std::string_view hint = {});
[[nodiscard]] Error tool_missing(std::string_view tool, std::string_view install_hint);
[[nodiscard]] Error untrusted_tool(std::string_view tool, std::string_view path, std::string_view why,
                                   std::string_view hint = {});
[[nodiscard]] Error tool_not_runnable(std::string_view tool, std::string_view path, std::string_view why,
                                      std::string_view hint = {});
[[nodiscard]] Error probe_timeout(std::string_view tool, std::chrono::milliseconds elapsed);
[[nodiscard]] Error cancelled(std::string_view tool, std::chrono::milliseconds elapsed);
[[nodiscard]] Error limit_exceeded(std::string_view tool, ExceededLimit limit, std::string_view why);
[[nodiscard]] Error guarantee_unavailable(Guarantee guarantee, std::string_view why, std::string_view hint = {});
[[nodiscard]] Error jail_unavailable(JailKind jail, std::string_view why, std::string_view hint = {});
[[nodiscard]] Error setup_failed(const SetupFailed& failure, std::string_view hint = {});
[[nodiscard]] Error jail_died(JailKind jail, int wait_status);
// "cannot record the call in /x: <why>"; `error_number` is 0 when no system call failed.
[[nodiscard]] Error audit_failed(std::string_view log, int error_number, std::string_view why, std::string_view hint);
// "cannot open /x: permission denied". `operation` is a verb; `subject` may be empty.
[[nodiscard]] Error system_error(std::string_view operation, std::string_view subject, int error_number,
                                 std::string_view hint = {});

}  // namespace sallyport
