#include "gate/host_gate.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "core/errors.h"
#include "gate/audited.h"
#include "gate/one_run.h"
#include "gate/policy_file.h"
#include "os/canonical.h"

namespace sallyport {
namespace {

// Limits that the caller's shell may have set. Check them here with a clear message: later the kernel would only kill
// (SIGXFSZ), or a helper would vanish without a reason.
Status check_own_limits() {
  constexpr rlim_t kFiles = 64;
  constexpr rlim_t kFileSize = rlim_t{1} << 20U;
  rlimit files{};
  rlimit size{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || ::getrlimit(RLIMIT_FSIZE, &size) != 0) {
    return fail(system_error("read", "the limits of this process", errno));
  }
  if (files.rlim_cur < kFiles) {
    return fail(system_error("start anything", fmt::format("with {} open files at most", files.rlim_cur), EMFILE,
                             fmt::format("raise the limit with 'ulimit -n {}'", kFiles)));
  }
  if (size.rlim_cur < kFileSize) {
    return fail(system_error("start anything", fmt::format("with files of {} bytes at most", size.rlim_cur), EFBIG,
                             "raise the limit with 'ulimit -f 1024'; a jail is made of small files in memory"));
  }
  return {};
}

bool is_job_id(std::string_view text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Status check_config(const GateConfig& config) {
  if (!config.job.empty() && !is_job_id(config.job)) {
    return fail(invalid_request("job", "its id is not 32 hex digits", "take 16 random bytes"));
  }
  if (config.warm_jails > spawn::wire::kMaxWarmJails) {
    return fail(invalid_request("warm_jails", fmt::format("{} jails are too many to keep ready", config.warm_jails),
                                fmt::format("keep at most {}", spawn::wire::kMaxWarmJails)));
  }
  return {};
}

// Resolves the repo now, so that a later change of a symlink has no effect. Each call refuses a missing repo.
void settle_repo(GateConfig& config) {
  if (Result<std::filesystem::path> repo = canonical_directory(config.repo, "repo")) config.repo = *std::move(repo);
}

// Returns why this gate can run nothing. Once the policy is read, its path is dropped: its content is the closed set.
std::optional<Error> why_unusable(GateConfig& config) {
  if (Status limits = check_own_limits(); !limits) return std::move(limits).error();
  if (!config.policy) return std::nullopt;
  Result<Allowlist> read = load_allowlist(config.policy, config.repo);
  if (!read) return std::move(read).error();
  config.allowlist = *std::move(read);
  config.policy.reset();
  return std::nullopt;
}

}  // namespace

// A gate that cannot open counts as a refusal, of a call that is not known yet (C36).
Result<std::unique_ptr<HostGate>> HostGate::open(GateConfig config, spawn::SupplyFor runs) {
  Result<std::unique_ptr<HostGate>> gate = compose(config, runs);
  if (gate) return gate;
  const JailedSubprocessSpec unknown;
  return fail(record_refusal(config, {.spec = unknown, .repo = config.repo, .job = config.job}, gate.error()));
}

// Moves from the configuration only when nothing can fail any more.
Result<std::unique_ptr<HostGate>> HostGate::compose(GateConfig& config, spawn::SupplyFor runs) {
  TRY(check_config(config));
  settle_repo(config);
  std::optional<Error> unusable = why_unusable(config);
  auto builtin = std::make_unique<BuiltinJails>(config.warm_jails, runs, config.container);
  std::vector<Jail*> jails = builtin->all();
  jails.insert(jails.end(), config.own_jails.begin(), config.own_jails.end());
  JailSet set = TRY(JailSet::of(jails, config.auto_jails));
  return std::unique_ptr<HostGate>(
      new HostGate(std::move(config), std::move(unusable), std::move(set), std::move(builtin)));
}

Result<std::unique_ptr<Gate>> Gate::open(GateConfig config) { return TRY(HostGate::open(std::move(config))); }

Result<std::unique_ptr<Gate>> open_gate_for_one_run(GateConfig config) {
  return TRY(HostGate::open(std::move(config), spawn::SupplyFor::kOneRun));
}

}  // namespace sallyport
