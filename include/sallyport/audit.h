// The audit log (C33): every call through a gate leaves a record, refusals included, in a chain in which every change
// can be detected.
//
//   std::unique_ptr<AuditSink> log = SALLYPORT_TRY(open_audit_log({.directory = "/home/me/.local/state/sallyport/audit"}));
//   GateConfig config = GateConfig::from_environment("/src/theirs");
//   config.audit = log.get();
//
// The gate records an intent before the call does anything, and a result or a refusal after it: a crash leaves an open
// intent. The gate refuses a call whose record cannot be written (AuditFailed), unless the sink lets runs go on without one.
// The log's format, what each sync mode promises, and the tools that read it: docs/audit.md. The rule: docs/contract.md, C33.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sallyport/jail.h"
#include "sallyport/limits.h"
#include "sallyport/plan.h"
#include "sallyport/result.h"

namespace sallyport {

// What is known of a call before the gate judges it. Borrowed for one function call.
struct AuditCall {
  const JailedSubprocessSpec& spec;
  JailKind jail = JailKind::kAuto;
  std::string_view policy_digest{};        // empty: the policy itself was refused
  std::filesystem::path repo{};            // the gate's; empty: the one that `spec` names
  std::string_view job{};                  // GateConfig::job
  std::optional<std::string> commit{};     // the repo's commit; nullopt: it has none, or none that can be trusted
  std::optional<std::string> workspace{};  // the name of its workspace, empty for one without; nullopt: it uses none
};

// The result of a part of a job, in the words of in-toto's Test Result; the last two cannot be attested.
enum class JobResult { kPassed, kWarned, kFailed, kIncomplete, kSkipped };
[[nodiscard]] std::string_view name_of(JobResult result);

struct AuditJobStep {
  std::string name{};
  JobResult result = JobResult::kIncomplete;
  std::string why{};  // one line; empty when it passed
};
struct AuditJobFile {
  std::string name{};
  std::string sha256{};
};

// How a job ended; the log has its calls under the same id (GateConfig::job).
struct AuditJob {
  std::string id{};
  std::string name{};  // "validate", "probe"
  std::filesystem::path repo{};
  std::optional<std::string> commit{};
  JobResult result = JobResult::kIncomplete;
  std::string verdict{};                                        // in the job's own words: "denied", "findings"
  std::vector<std::pair<std::string, std::string>> settings{};  // what the verdict depends on: {"severity", "high"}
  std::vector<AuditJobStep> steps{};
  std::vector<AuditJobFile> outputs{};  // the reports it wrote
};

// What happens to a call that the log cannot record. kGoOn weakens C33: such a run leaves a warning
// (`subproc.audit.failed`) and no record.
enum class AuditFailure { kRefuse, kGoOn };

// Thread-safe; calls may come from any number of threads at once.
class AuditSink {
 public:
  virtual ~AuditSink() = default;
  // Records the intent and returns the run's id. On failure nothing is started.
  [[nodiscard]] virtual Result<std::string> begin(const AuditCall& call) = 0;
  // Records how the call of this id ended. When it returns without error the record is as durable as the sync mode promises.
  [[nodiscard]] virtual Status end(const std::string& run, const AuditCall& call,
                                   const Result<JailedSubprocessResult>& result) = 0;
  // Records a call that was refused before it had an id.
  [[nodiscard]] virtual Status refused(const AuditCall& call, const Error& why) = 0;
  // Records the end of a job, after its calls. A sink for single calls ignores it.
  [[nodiscard]] virtual Status job_ended(const AuditJob& /*job*/) { return {}; }
  // Directories that no tool may write and that must not lie in an analysed repo; canonical. The gate refuses such calls.
  [[nodiscard]] virtual std::vector<std::filesystem::path> places() const { return {}; }
  [[nodiscard]] virtual AuditFailure on_failure() const { return AuditFailure::kRefuse; }
};

// When a record is on the disk, safe from a power cut. In every mode, the death of a process loses no recorded call.
enum class AuditSync {
  kAlways,  // the intent before the tool starts, the result before the call returns
  kGroup,   // both before the call returns; all waiting processes share one fdatasync(2)
  kNone,    // when the kernel gets to it
};

struct AuditLogOptions {
  std::filesystem::path directory{};  // made if missing, its parent must exist; only we may access it (mode 0700)
  AuditSync sync = AuditSync::kGroup;
  AuditFailure on_failure = AuditFailure::kRefuse;
  ByteCount rotate_at = mebibytes(64);  // at this size the log starts its next file
  std::string label{};                  // the caller's, in every record: "run", "nightly scan", …
};

// AuditFailed when others can access the directory, when it cannot be written, or when its log has lost durable
// records.
[[nodiscard]] Result<std::unique_ptr<AuditSink>> open_audit_log(AuditLogOptions options);

}  // namespace sallyport
