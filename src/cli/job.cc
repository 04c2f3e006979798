#include "cli/job.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
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
  GateConfig config{.search_path = search_path(environment),
                    .base_env = base_env(environment),
                    .cache_dir = cache_dir(environment),
                    .events = &events,
                    .audit = audit.get(),
                    .job = id,
                    .npm = operator_npm(environment)};
  if (!repo) {
    const JailedSubprocessSpec none_yet;
    const AuditCall call{.spec = none_yet, .repo = options.repo.value_or(fs::path()), .job = id};
    return fail(record_refusal(config, call, repo.error()));
  }
  static_cast<void>(sweep_stale_scratch("/tmp"));
  ScratchDir scratch = TRY(ScratchDir::create("/tmp"));
  config.repo = *repo;
  std::unique_ptr<Gate> gate = TRY(Gate::open(std::move(config)));
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

Status write_report(const fs::path& path, std::string_view text) {
  const fs::path fresh = path.native() + ".sallyport-new";
  const UniqueFd out(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
  int problem = out.get() < 0 ? errno : 0;
  while (problem == 0 && !text.empty()) {
    const ssize_t written = ::write(out.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) problem = errno;
    if (written >= 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (problem == 0 && ::rename(fresh.c_str(), path.c_str()) != 0) problem = errno;
  if (problem == 0) return {};
  if (out.get() >= 0) static_cast<void>(::unlink(fresh.c_str()));
  return fail(system_error("write", path.native(), problem, "name a file that can be written"));
}

Result<AuditJobFile> write_job_report(const fs::path& path, std::string_view text) {
  TRY(write_report(path, text));
  return AuditJobFile{.name = path.filename().native(), .sha256 = sha256_hex(text)};
}

}  // namespace sallyport::cli
