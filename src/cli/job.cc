#include "cli/job.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <utility>

#include "audit/members.h"
#include "cli/console.h"
#include "cli/repo_root.h"
#include "core/bytes/sha256.h"
#include "core/errors.h"
#include "gate/audited.h"
#include "gate/repo_commit.h"
#include "os/canonical.h"

namespace sallyport::cli {
namespace {

namespace fs = std::filesystem;

Result<fs::path> job_repo(const JobOptions& options, const Environment& environment, EventSink& events) {
  const fs::path& here = environment.current_directory;
  if (here.empty()) return fail(invalid_request("repo", "the current directory is gone", "name a directory"));
  if (options.repo)
    return canonical_directory(options.repo->is_absolute() ? *options.repo : here / *options.repo, "repo");
  return repo_around(TRY(canonical_directory(here, "repo")), environment, events);
}

using Outputs = std::vector<std::pair<fs::path, OutputFile>>;

Result<Outputs> settle_outputs(const JobOptions& options, const Environment& environment, const fs::path& repo) {
  Outputs outputs;
  for (const fs::path& name : options.outputs) {
    outputs.emplace_back(name, TRY(OutputFile::settle("output", environment.current_directory / name, {&repo, 1})));
  }
  return outputs;
}

void watch_signals(const std::stop_token& done, int signals, const EventFd& over, const std::stop_source& stop) {
  const std::stop_callback wake(done, [&] { over.signal(); });
  std::array<pollfd, 2> events{pollfd{.fd = signals, .events = POLLIN, .revents = 0},
                               pollfd{.fd = over.fd(), .events = POLLIN, .revents = 0}};
  while (::poll(events.data(), events.size(), -1) < 0 && errno == EINTR) {
  }
  if (!done.stop_requested()) stop.request_stop();
}

}  // namespace

Job::Job(StopOnSignal signals, EventFd over, ScratchDir scratch, std::unique_ptr<AuditSink> audit,
         std::unique_ptr<Gate> gate, std::string id)
    : signals_(std::move(signals)),
      over_(std::move(over)),
      scratch_(std::move(scratch)),
      audit_(std::move(audit)),
      gate_(std::move(gate)),
      id_(std::move(id)) {
  watcher_ = std::jthread(watch_signals, signals_.fd(), std::cref(over_), stop_);
}

Result<std::unique_ptr<Job>> Job::start(const JobOptions& options, const Environment& environment, EventSink& events) {
  StopOnSignal signals = TRY(StopOnSignal::start());
  EventFd over = TRY(EventFd::create());
  Result<fs::path> repo = job_repo(options, environment, events);
  LogReach reach{.repo = repo ? *repo : fs::path()};
  if (!options.workspaces.empty()) reach.workspaces.push_back(options.workspaces);
  std::unique_ptr<AuditSink> audit = TRY(open_audit(options.audit, environment, options.label, reach, events));
  const std::string id = audit ? TRY(audit::fresh_run_id()) : std::string();
  GateConfig config = gate_config(environment, repo ? *repo : options.repo.value_or(fs::path()));
  config.events = &events;
  config.audit = audit.get();
  config.job = id;
  std::unique_ptr<Gate> gate = TRY(Gate::open(std::move(config)));
  Result<Outputs> outputs = repo ? settle_outputs(options, environment, *repo) : fail(repo.error());
  if (!outputs) return fail(gate->refuse(outputs.error()));
  static_cast<void>(sweep_stale_scratch("/tmp"));
  ScratchDir scratch = TRY(ScratchDir::create("/tmp"));
  auto job = std::make_unique<Job>(std::move(signals), std::move(over), std::move(scratch), std::move(audit),
                                   std::move(gate), id);
  job->commit_ = repo_commit(*repo);
  job->context_ = {.gate = job->gate_.get(),
                   .repo = *std::move(repo),
                   .work_dir = job->scratch_.path(),
                   .deadline = std::chrono::steady_clock::now() + options.timeout,
                   .memory = options.memory,
                   .allowed_egress = options.allowed_egress,
                   .stop = job->stop_.get_token()};
  job->outputs_ = *std::move(outputs);
  return job;
}

Status Job::end(AuditJob record) {
  if (audit_ == nullptr) return {};
  record.id = id_;
  record.repo = context_.repo;
  record.commit = commit_;
  const Status recorded = audit_->job_ended(record);
  if (recorded || audit_->on_failure() == AuditFailure::kRefuse) return recorded;
  warn_unrecorded(gate_->config(), recorded.error());
  return {};
}

int incomplete(const Error& error, Format format) {
  static_cast<void>(report(error, format));
  return kJobIncomplete;
}

Result<AuditJobFile> Job::write(const fs::path& output, std::string_view text) const {
  const auto settled = std::ranges::find(outputs_, output, &std::pair<fs::path, OutputFile>::first);
  if (settled == outputs_.end())
    return fail(invalid_request("output", "it was not settled before the job", "report this"));
  TRY(settled->second.replace(text));
  return AuditJobFile{.name = output.filename().native(), .sha256 = sha256_hex(text)};
}

Status write_report(const fs::path& path, std::string_view text) {
  return TRY(OutputFile::settle("output", path, {})).replace(text);
}

}  // namespace sallyport::cli
