// What every job's verb sets up: the repo, a gate over it, a private directory for our own rules, and Ctrl-C as a stop request.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cli/audit_choice.h"
#include "cli/environment.h"
#include "cli/format.h"
#include "cli/stop_on_signal.h"
#include "jobs/report/context.h"
#include "os/event_fd.h"
#include "os/output_file.h"
#include "os/scratch.h"
#include "sallyport/gate.h"

namespace sallyport::cli {

inline constexpr int kJobClean = 0;
inline constexpr int kJobFindings = 1;
inline constexpr int kJobIncomplete = 2;

struct JobOptions {
  std::optional<std::filesystem::path> repo{};  // unset: the repo around the current directory, else that directory
  std::chrono::milliseconds timeout{};
  std::optional<ByteCount> memory{};
  std::vector<std::string> allowed_egress{};
  std::filesystem::path workspaces{};  // its workspaces' directory; empty: it has none
  AuditChoice audit{};
  std::string label{};                           // the verb, for the audit log
  std::vector<std::filesystem::path> outputs{};  // reports that the user named, opened before any run
};

class Job {
 public:
  // `events` is borrowed. Call once per process: it handles the signals.
  [[nodiscard]] static Result<std::unique_ptr<Job>> start(const JobOptions& options, const Environment& environment,
                                                          EventSink& events);
  [[nodiscard]] const jobs::JobContext& context() const { return context_; }
  // The job's id in the records of its calls and its end; empty: nothing is recorded.
  [[nodiscard]] const std::string& id() const { return id_; }
  // Records why the job cannot make its first call; returns the error to report (Gate::refuse).
  [[nodiscard]] Error refuse(const Error& why) { return gate_->refuse(why); }
  // Writes one of the options' outputs atomically; returns its entry for the job's record.
  [[nodiscard]] Result<AuditJobFile> write(const std::filesystem::path& output, std::string_view text) const;
  // Records the job's result. AuditFailed when the log must record it and cannot.
  [[nodiscard]] Status end(AuditJob record);

  // For start() alone, which fills in the rest.
  Job(StopOnSignal signals, EventFd over, ScratchDir scratch, std::unique_ptr<AuditSink> audit,
      std::unique_ptr<Gate> gate, std::string id);

 private:
  StopOnSignal signals_;
  EventFd over_;  // wakes the watcher at the end
  ScratchDir scratch_;
  std::unique_ptr<AuditSink> audit_;  // outlives the gate
  std::unique_ptr<Gate> gate_;
  std::string id_;
  std::optional<std::string> commit_;
  std::stop_source stop_;
  jobs::JobContext context_;
  std::vector<std::pair<std::filesystem::path, OutputFile>> outputs_;  // by the name the user gave
  std::jthread watcher_;                                               // last: ends before the members that it reads
};

// Prints why a job could not complete; returns the exit code for that.
[[nodiscard]] int incomplete(const Error& error, Format format);

// Writes a file that the user named, where no untrusted code runs, atomically: never half a report.
[[nodiscard]] Status write_report(const std::filesystem::path& path, std::string_view text);

}  // namespace sallyport::cli
