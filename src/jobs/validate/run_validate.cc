#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "jobs/report/places.h"
#include "jobs/report/text.h"
#include "jobs/validate/integrity.h"
#include "jobs/validate/lock_findings.h"
#include "jobs/validate/lock_stage.h"
#include "jobs/validate/npm_cache.h"
#include "jobs/validate/recognise.h"
#include "jobs/validate/signatures.h"
#include "jobs/validate/stage_run.h"
#include "jobs/validate/validate.h"

namespace sallyport::jobs {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::string_view kEarlier = "an earlier stage did not pass";

std::vector<std::string> digests_of(const Lockfile& lock) {
  std::set<std::string> digests;
  for (const LockedPackage& package : lock.packages) {
    if (!is_fetched(package)) continue;
    if (std::optional<std::string> digest = sha512_of(package.integrity)) digests.insert(*std::move(digest));
  }
  return {digests.begin(), digests.end()};
}

bool lies_inside(const fs::path& path, const fs::path& root) {
  const fs::path inside = path.lexically_relative(root);
  return !inside.empty() && *inside.begin() != "..";
}

// The user as whom root runs a jailed tool over this repo; nullopt: the caller.
std::optional<ViewReader> other_owner(const fs::path& repo) {
  struct stat found{};
  if (::geteuid() != 0 || ::stat(repo.c_str(), &found) != 0 || found.st_uid == 0) return std::nullopt;
  return ViewReader{.uid = found.st_uid, .gid = found.st_gid};
}

// The store, a view of it for this lock file, and the workspace over that view which npm writes.
class FetchCache {
 public:
  FetchCache(const JobContext& context, const ValidateOptions& options, const Lockfile& lock, CacheReport& report)
      : digests_(digests_of(lock)), report_(report) {
    report_.wanted = digests_.size();
    if (options.cache_dir.empty()) return;
    if (Status opened = open(context, options); !opened) report_.problem = opened.error().message;
  }

  [[nodiscard]] Workspace* workspace() const { return workspace_.get(); }
  [[nodiscard]] const fs::path& view() const { return view_; }

  void promote() {
    if (workspace_ == nullptr) return;
    Promotion done = store_->promote(digests_, seeded_,
                                     [this](const fs::path& relative) { return workspace_->open_file(relative); });
    report_.added = done.added;
    report_.rejected = std::move(done.rejected);
    if (!done.problem.empty()) report_.problem = std::move(done.problem);
  }

 private:
  Status open(const JobContext& context, const ValidateOptions& options) {
    if (lies_inside(options.cache_dir, context.repo)) {
      return fail(bad_request("cache_dir", "it lies inside the repo",
                              "name another directory with `ValidateOptions::cache_dir`"));
    }
    store_ = TRY(NpmCache::open(options.cache_dir));
    view_ = context.work_dir / "npm-cache";
    std::error_code error;
    fs::create_directory(view_, error);
    seeded_ = TRY(store_->seed(digests_, view_, other_owner(context.repo)));
    report_.cached = seeded_.size();
    workspace_ = TRY(Workspace::open(
        {.repo = view_, .state_dir = options.state_dir, .quota = options.disk, .events = options.events}));
    return {};
  }

  std::vector<std::string> digests_;
  CacheReport& report_;
  std::optional<NpmCache> store_;
  fs::path view_;
  SeededFiles seeded_;
  std::unique_ptr<Workspace> workspace_;
};

struct NamedRegistry {
  std::string_view scheme = "https://";
  std::string_view rule{};
};

NamedRegistry split_registry(std::string_view text) {
  constexpr std::string_view kHttp = "http://";
  NamedRegistry named;
  if (text.starts_with(kHttp)) named.scheme = kHttp;
  if (text.starts_with(named.scheme)) text.remove_prefix(named.scheme.size());
  if (text.ends_with('/')) text.remove_suffix(1);
  named.rule = text;
  return named;
}

Result<RegistryAllowlist> registry_named(std::string_view text) {
  const NamedRegistry named = split_registry(text);
  HostRule rule = TRY(parse_host_rule(named.rule));
  const HostRuleFields& fields = rule.fields();
  if (fields.any_subdomain) {
    return fail(bad_request("registry", "a registry is one host", "write HOST[:PORT][=ADDR:PORT]"));
  }
  RegistryAllowlist registry{.registry = fmt::format("{}{}", named.scheme, fields.name)};
  if (fields.port) registry.registry += fmt::format(":{}", *fields.port);
  registry.registry += '/';
  registry.hosts.push_back(std::move(rule));
  return registry;
}

struct Reachable {
  RegistryAllowlist registry;
  std::vector<HostRule> more_hosts;
};

Result<Reachable> find_reachable(const ValidateOptions& options, const GateConfig& config) {
  std::vector<HostRule> more_hosts;
  for (const std::string& text : options.more_hosts) more_hosts.push_back(TRY(parse_host_rule(text)));
  RegistryAllowlist registry =
      TRY(options.registry ? registry_named(*options.registry) : RegistryAllowlist::of_npm(config));
  if (options.registry_auth) TRY(registry.add_credentials(config));
  return Reachable{.registry = std::move(registry), .more_hosts = std::move(more_hosts)};
}

class Validation {
 public:
  Validation(const JobContext& context, const ValidateOptions& options) : context_(context), options_(options) {
    report_.rules.assign(lock_rules().begin(), lock_rules().end());
    for (const StageId id : {StageId::kLock, StageId::kFetch, StageId::kBuild, StageId::kTest}) {
      report_.stages.push_back({.stage = id, .why = std::string(kEarlier)});
    }
  }

  ValidateReport run() && {
    if (Status done = run_stages(); !done) {
      report_.verdict =
          Incomplete{.why = done.error().hint.empty() ? done.error().message
                                                      : fmt::format("{}; {}", done.error().message, done.error().hint)};
    }
    return std::move(report_);
  }

 private:
  Status run_stages() {
    const SandboxedPath repo = TRY(SandboxedPath::open_root(context_.repo));
    auto recognised = recognise(repo);
    if (auto* const other = std::get_if<NotNpm>(&recognised)) {
      report_.verdict = std::move(*other);
      return {};
    }
    if (auto* const broken = std::get_if<Unreadable>(&recognised)) {
      stage(StageId::kLock).state = StageState::kFailed;
      stage(StageId::kLock).why = std::move(broken->why);
      report_.verdict = verdict_of(report_.stages);
      return {};
    }
    Result<Reachable> reachable = find_reachable(options_, context_.gate->config());
    if (!reachable) return fail(context_.gate->refuse(reachable.error()));
    report_.registry = reachable->registry.registry;
    const Result<std::unique_ptr<Workspace>> opened = Workspace::open(
        {.repo = context_.repo, .state_dir = options_.state_dir, .quota = options_.disk, .events = options_.events});
    if (!opened) return fail(context_.gate->refuse(opened.error()));
    const std::unique_ptr<Workspace>& workspace = *opened;
    const StageSetup setup{.context = &context_,
                           .options = &options_,
                           .registry = &reachable->registry,
                           .more_hosts = std::move(reachable->more_hosts),
                           .workspace = workspace.get(),
                           .notes = &report_.notes};
    run_in(setup, std::get<NpmProject>(std::move(recognised)));
    report_.verdict = verdict_of(report_.stages);
    Result<WorkspaceDiff> changes = workspace->diff();
    if (changes) {
      report_.changes = *std::move(changes);
    } else {
      report_.changes_problem = changes.error().message;
    }
    return {};
  }

  void run_in(const StageSetup& setup, NpmProject project) {
    LockOutcome lock;
    timed(StageId::kLock, [&](StageResult& result) {
      lock = run_lock_stage(setup, std::move(project));
      result = std::move(lock.stage);
      add_fingerprints(context_.repo, result.findings);
    });
    // Findings do not stop the later stages: everything runs in the jail.
    const StageState state = stage(StageId::kLock).state;
    if (!lock.is_readable || (state != StageState::kPassed && state != StageState::kFailed)) return;
    timed(StageId::kFetch, [&](StageResult& result) { fetch(setup, lock.lock, result); });
    if (stage(StageId::kFetch).state != StageState::kPassed) return;
    if (options_.allow_scripts.empty()) {
      stage(StageId::kBuild).why = "no `allow_scripts`";
    } else {
      timed(StageId::kBuild, [&](StageResult& result) { build(setup, result); });
      if (stage(StageId::kBuild).state != StageState::kPassed) return;
    }
    timed(StageId::kTest, [&](StageResult& result) {
      settle(result, run_step(setup, StageId::kTest, {.argv = {"npm", "test"}, .scripts = Scripts::kOn}));
    });
  }

  void fetch(const StageSetup& setup, const Lockfile& lock, StageResult& result) {
    FetchCache cache(context_, options_, lock, report_.cache);
    StepRequest request{.argv = {"npm", "ci"}, .network = Network::kRegistry, .cache = cache.workspace()};
    if (cache.workspace() != nullptr) request.argv.push_back("--cache=" + cache.view().native());
    settle(result, run_step(setup, StageId::kFetch, request));
    if (result.state == StageState::kPassed && options_.signatures) check_signatures(setup, result);
    if (result.state == StageState::kPassed) cache.promote();
  }

  static void check_signatures(const StageSetup& setup, StageResult& result) {
    std::string out;
    Step step = run_step(
        setup, StageId::kFetch,
        {.argv = {"npm", "audit", "signatures", "--json"}, .network = Network::kRegistry, .max_output = mebibytes(16)},
        &out);
    const StepState state = state_of(step);
    const auto report = parse_signatures(out);
    result.steps.push_back(std::move(step));
    // npm exits with 1 for bad signatures, and for much else.
    const bool answered = (state.state == StageState::kPassed || state.state == StageState::kFailed) && report;
    if (!answered) {
      result.state = state.state == StageState::kDenied ? StageState::kDenied : StageState::kIncomplete;
      result.why = fmt::format("signatures could not be checked: {}", report ? state.why : report.error());
      return;
    }
    for (const std::string& package : report->invalid) {
      result.findings.push_back(
          lock_finding("signature-invalid", fmt::format("{}: its registry signature is wrong", package), {}));
    }
    for (const std::string& package : report->missing) {
      result.findings.push_back(
          lock_finding("signature-missing", fmt::format("{}: it has no registry signature", package), {}));
    }
    if (report->invalid.empty()) return;
    result.state = StageState::kFailed;
    result.why = fmt::format("{} packages have a wrong signature", report->invalid.size());
  }

  void build(const StageSetup& setup, StageResult& result) {
    StepRequest request{.argv = {"npm", "rebuild"}, .scripts = Scripts::kOn};
    request.argv.insert(request.argv.end(), options_.allow_scripts.begin(), options_.allow_scripts.end());
    settle(result, run_step(setup, StageId::kBuild, request));
  }

  template <class Run>
  void timed(StageId id, Run run) {
    if (options_.progress) options_.progress(id, nullptr);
    StageResult& result = stage(id);
    result.why.clear();
    const auto start = steady_clock::now();
    run(result);
    result.duration = std::chrono::duration_cast<milliseconds>(steady_clock::now() - start);
    if (options_.progress) options_.progress(id, &result);
  }

  StageResult& stage(StageId id) { return report_.stages.at(static_cast<std::size_t>(id)); }

  const JobContext& context_;
  const ValidateOptions& options_;
  ValidateReport report_;
};

}  // namespace

ValidateReport run_validate(const JobContext& context, const ValidateOptions& options) {
  return Validation(context, options).run();
}

}  // namespace sallyport::jobs
