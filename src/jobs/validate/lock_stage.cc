#include "jobs/validate/lock_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "jobs/report/text.h"
#include "jobs/validate/lock_findings.h"
#include "jobs/validate/min_age.h"

namespace sallyport::jobs {
namespace {

constexpr std::string_view kLockPath = "package-lock.json";
constexpr std::size_t kAskersAtOnce = 4;
constexpr std::size_t kMostKeptSteps = 8;

void fail_stage(StageResult& stage, StageState state, std::string why) {
  stage.state = state;
  stage.why = std::move(why);
}

PublishTime newest_allowed(const ValidateOptions& options) { return options.now - *options.min_age; }

// With --before npm selects versions when there is no lock file yet.
bool make_lock(const StageSetup& setup, StageResult& stage, NpmProject& project) {
  StepRequest request{.argv = {"npm", "install", "--package-lock-only", "--package-lock"},
                      .network = Network::kRegistry};
  if (setup.options->min_age) {
    request.argv.push_back("--before=" + time_text(newest_allowed(*setup.options)));
  }
  settle(stage, run_step(setup, StageId::kLock, request));
  if (stage.state != StageState::kPassed) return false;
  Result<std::string> text = setup.workspace->read_file(kLockPath, kLargestLockfile);
  if (!text) {
    fail_stage(stage, StageState::kFailed, fmt::format("npm made no lock file: {}", text.error().message));
    return false;
  }
  project.lock_path = kLockPath;
  project.lock_text = *std::move(text);
  stage.findings.push_back(lock_finding("lock-none", "no lock file: one was made in the workspace", {}));
  return true;
}

// Asks the registry, through the gate, for the times of each name; several at once, since each npm takes a while to start.
class Askers {
 public:
  Askers(const StageSetup& setup, StageResult& stage, std::vector<std::string> names)
      : setup_(setup), stage_(stage), names_(std::move(names)) {
    setup_.workspace = nullptr;
    options_ = *setup.options;
    options_.said = {};
    setup_.options = &options_;
  }

  std::map<std::string, VersionTimes> ask() && {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min(kAskersAtOnce, names_.size()); ++i) threads.emplace_back([this] { work(); });
    work();
    threads.clear();
    return std::move(times_);
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < names_.size(); i = next_++) {
      if (!is_package_name(names_[i])) continue;
      std::vector<std::string> notes;
      StageSetup own = setup_;
      own.notes = &notes;
      std::string out;
      Step step = run_step(own, StageId::kLock,
                           {.argv = {"npm", "view", names_[i], "time", "--json"},
                            .network = Network::kRegistry,
                            .max_output = mebibytes(16)},
                           &out);
      const auto times = parse_times(out);
      const std::scoped_lock lock(mutex_);
      if (state_of(step).state == StageState::kPassed && times) {
        times_.emplace(names_[i], *times);
      } else {
        keep(std::move(step));
      }
    }
  }

  // A refused or failed step decides the stage's state; a version of unknown age is only a finding.
  void keep(Step step) {
    const StepState state = state_of(step);
    if (state.state != StageState::kPassed && state.state != StageState::kFailed) {
      stage_.state = state.state;
      stage_.why = state.why;
    }
    if (stage_.steps.size() < kMostKeptSteps) stage_.steps.push_back(std::move(step));
  }

  StageSetup setup_;
  StageResult& stage_;
  std::vector<std::string> names_;
  ValidateOptions options_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::map<std::string, VersionTimes> times_;
};

void judge(const StageSetup& setup, StageResult& stage) {
  if (stage.state != StageState::kPassed) return;
  const auto counts = [&](const Finding& finding) { return finding.severity >= setup.options->threshold; };
  const auto failing = std::ranges::count_if(stage.findings, counts);
  if (failing == 0) return;
  const auto first = std::ranges::find_if(stage.findings, counts);
  stage.state = StageState::kFailed;
  stage.why = failing == 1 ? first->message : fmt::format("{} (and {} more)", first->message, failing - 1);
}

void append(std::vector<Finding>& to, std::vector<Finding> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

bool is_package_name(std::string_view name) {
  constexpr std::size_t kLongest = 214;
  const auto is_part = [](std::string_view part) {
    return !part.empty() && part.front() != '.' && part.front() != '-' && std::ranges::all_of(part, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
             c == '.';
    });
  };
  if (name.size() > kLongest) return false;
  if (!name.starts_with('@')) return is_part(name);
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return false;
  return is_part(name.substr(1, slash - 1)) && is_part(name.substr(slash + 1));
}

LockOutcome run_lock_stage(const StageSetup& setup, NpmProject project) {
  LockOutcome done;
  StageResult& stage = done.stage;
  stage.state = StageState::kPassed;
  for (const std::string& other : project.other_locks) {
    stage.findings.push_back(
        lock_finding("lock-other-manager", fmt::format("{} was not checked", other), {.path = other}));
  }
  if (project.lock_path.empty() && !make_lock(setup, stage, project)) return done;
  auto lock = parse_lockfile(project.lock_text);
  if (!lock) {
    fail_stage(stage, StageState::kFailed, fmt::format("{} is not understood: {}", project.lock_path, lock.error()));
    return done;
  }
  done.lock = *std::move(lock);
  done.is_readable = true;
  append(stage.findings, check_lock({.lock = &done.lock,
                                     .manifest = &project.manifest,
                                     .lock_path = project.lock_path,
                                     .lock_text = project.lock_text,
                                     .registry = web_place(setup.registry->registry).value_or(WebPlace{}),
                                     .known_hosts = setup.options->lock_hosts}));
  if (setup.options->min_age) {
    const std::map<std::string, VersionTimes> times = Askers(setup, stage, names_to_ask(done.lock)).ask();
    append(stage.findings, too_young(done.lock, project.lock_path, times, newest_allowed(*setup.options)));
  }
  judge(setup, stage);
  return done;
}

}  // namespace sallyport::jobs
