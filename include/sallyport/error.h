// Why the gate gave no result. An Error comes *before* or *instead of* a child's fate; what happened to a child that
// ran is an Outcome (outcome.h), never an Error. The numbers are rules of docs/contract.md.
//
// `detail` is the part a program acts on, `message` and `hint` the part a person reads: "sallyport: error: <message>", then
// "hint: <hint>".
//
//   if (const auto* missing = error.as<ToolMissingError>()) std::puts(missing->install_hint.c_str());
//
// In a hint, a name in backticks is one of this API: a field, a value or a function; so is InvalidRequest's `field`, which also
// follows "invalid" in its message. A program whose users know other words for it (the CLI's options) puts those there instead.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <variant>

#include "sallyport/guarantee.h"
#include "sallyport/jail_kind.h"
#include "sallyport/setup_stage.h"

namespace sallyport {

// argv[0] is not a bare name in the closed allowlist, or names a wrapper (C2, C4).
struct DisallowedSubprocessError {
  std::string tool;
};
// The probe's name does not match ^[a-z][a-z0-9_]{0,63}$ (C12).
struct InvalidProbeName {
  std::string probe;
};
// A part of the request is missing, malformed or out of range (C6–C9). `field` is its name in the struct that the caller filled
// ("argv", "extra_ca"; "timeout" and "max_output" for wall and output of Limits), "jail", or says what a text should have been
// ("host rule").
struct InvalidRequest {
  std::string field;
};
// A policy file is unreadable or wrong; line and column count from 1, 0 when there is no position (C3).
struct PolicyError {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
};
// Allowlisted, but not in the trusted search path (C11).
struct ToolMissingError {
  std::string tool;
  std::string install_hint;
};
// Found, but another user could have put it there, or it is not the file that the policy pins.
struct UntrustedToolError {
  std::string tool;
  std::string path;
};
// Found and trusted, but the kernel will not execute it.
struct ToolNotRunnable {
  std::string tool;
  std::string path;
};
// run_allowlisted and run_external_cli: the deadline passed and the whole tree was killed (C9, C11).
struct ProbeTimeoutError {
  std::string tool;
  std::chrono::milliseconds elapsed{};
};
// run_allowlisted and run_external_cli: the caller's stop_token fired and the whole tree was killed (C10).
struct CancelledError {
  std::string tool;
  std::chrono::milliseconds elapsed{};
};
// run_allowlisted and run_external_cli: another limit or rule ended the run.
enum class ExceededLimit { kMemory, kNetwork, kDisk };
struct LimitExceededError {
  std::string tool;
  ExceededLimit limit = ExceededLimit::kMemory;
};
// A guarantee the caller required cannot be established here (C26).
struct GuaranteeUnavailable {
  Guarantee guarantee;
};
// No jail of the requested kind works on this host: its program is missing, or the host forbids what it needs.
enum class JailProblem { kNotUsable, kNotInstalled };
struct JailUnavailable {
  JailKind jail{""};
  JailProblem problem = JailProblem::kNotUsable;
};
// A set-up step failed; the tool never started.
struct SetupFailed {
  SetupStage stage = SetupStage::kNone;
  int error_number = 0;
  bool host_cannot = false;  // this host lacks what the jail needs: another jail may work
};
// The tool had started, and then something other than the gate killed the jail's first process or the wrapper: how the
// tool itself ended is unknown, and the gate invents no outcome.
struct JailDied {
  JailKind jail{""};
  int wait_status = 0;  // as wait(2) gives it, of the process that died
};
// The call's record could not be written to the audit log, so the gate refused the call; or the call had run, and the
// gate withholds the result because it is not recorded.
struct AuditFailed {
  std::string log;
  int error_number = 0;
};
// An operating system call of ours failed.
struct SystemError {
  std::string operation;
  int error_number = 0;
};

using ErrorDetailVariant =
    std::variant<DisallowedSubprocessError, InvalidProbeName, InvalidRequest, PolicyError, ToolMissingError,
                 UntrustedToolError, ToolNotRunnable, ProbeTimeoutError, CancelledError, LimitExceededError,
                 GuaranteeUnavailable, JailUnavailable, SetupFailed, JailDied, AuditFailed, SystemError>;

// One of the above. Error::as, std::visit, std::get, std::get_if, std::holds_alternative and index() take it as the variant that
// it is. std::variant_size and std::variant_alternative do not, because they match the type's name: ask them about
// ErrorDetailVariant. How it is copied, moved and destroyed is compiled once, in the library: every function that returns a
// Result needs it, and sixteen alternatives cost each source that includes this header a second.
struct ErrorDetail : ErrorDetailVariant {
  using ErrorDetailVariant::ErrorDetailVariant;
  ErrorDetail();
  ErrorDetail(const ErrorDetail& other);
  ErrorDetail(ErrorDetail&& other) noexcept;
  ErrorDetail& operator=(const ErrorDetail& other);
  ErrorDetail& operator=(ErrorDetail&& other) noexcept;
  ~ErrorDetail();
};

struct Error {
  ErrorDetail detail;
  std::string message;  // "<what> <subject>: <why>", one line, no trailing stop
  std::string hint;     // what to change; may be empty
  // The call's tool ran, or nothing shows that it did not: what it did is done, and how it ended may be unknown.
  // False: it did not start, so that the same call can be made again.
  bool tool_may_have_started = false;

  template <class T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&detail);
  }
};

// "bind mount", "seccomp filter" …: in messages and as `error.stage` in JSON.
[[nodiscard]] std::string_view stage_name(SetupStage stage);

// The outcome's name, "oom_killed", "network_denied" or "disk_quota_exceeded": `error.outcome` in JSON.
[[nodiscard]] std::string_view name_of(ExceededLimit limit);

// The stable snake_case name of the alternative, used as `error.kind` in JSON ("disallowed_subprocess", …).
[[nodiscard]] std::string_view error_kind(const Error& error);

}  // namespace sallyport
