// The log as the gate's sink.
#include <utility>

#include "audit/append_log.h"
#include "audit/members.h"
#include "audit/transparency.h"
#include "sallyport/audit.h"

namespace sallyport {
namespace audit {
namespace {

class LogSink final : public AuditSink {
 public:
  LogSink(std::unique_ptr<AppendLog> log, AuditLogOptions options)
      : log_(std::move(log)), options_(std::move(options)), writer_(this_writer(options_.label)) {}

  [[nodiscard]] Result<std::string> begin(const AuditCall& call) override {
    TRY(log_->check_room());
    std::string run = TRY(fresh_run_id());
    const std::uint64_t seq = TRY(log_->append(intent_members(run, writer_, call)));
    if (options_.sync == AuditSync::kAlways) TRY(log_->sync(seq));
    return run;
  }

  [[nodiscard]] Status end(const std::string& run, const AuditCall& call,
                           const Result<JailedSubprocessResult>& result) override {
    return finish(end_members(run, writer_, call, result));
  }

  [[nodiscard]] Status refused(const AuditCall& call, const Error& why) override {
    const std::string run = TRY(fresh_run_id());
    return finish(refusal_members(run, writer_, call, why));
  }

  [[nodiscard]] Status job_ended(const AuditJob& job) override {
    TRY(check_job(job));
    return finish(job_members(writer_, job));
  }

  [[nodiscard]] std::vector<std::filesystem::path> places() const override { return {log_->directory().path()}; }
  [[nodiscard]] AuditFailure on_failure() const override { return options_.on_failure; }

 private:
  [[nodiscard]] Status finish(const std::string& members) {
    const std::uint64_t seq = TRY(log_->append(members));
    if (options_.sync != AuditSync::kNone) TRY(log_->sync(seq));
    checkpoint_when_due(log_->directory(), seq);
    return {};
  }

  std::unique_ptr<AppendLog> log_;
  const AuditLogOptions options_;
  const Writer writer_;
};

}  // namespace
}  // namespace audit

Result<std::unique_ptr<AuditSink>> open_audit_log(AuditLogOptions options) {
  std::unique_ptr<audit::AppendLog> log = TRY(audit::AppendLog::open(options.directory, options.rotate_at));
  return std::make_unique<audit::LogSink>(std::move(log), std::move(options));
}

}  // namespace sallyport
