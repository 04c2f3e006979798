#include "gate/host_gate.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <utility>

#include "core/errors.h"
#include "gate/one_run.h"
#include "gate/policy_file.h"
#include "os/canonical.h"

namespace sallyport {
namespace {

// What the caller's shell may have taken from us. Said here, in its words: where it is missed, the kernel only kills
// (SIGXFSZ), or a helper that cannot say why is gone.
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

Status check_config(const GateConfig& config) {
  TRY(check_own_limits());
  if (config.warm_jails > spawn::wire::kMaxWarmJails) {
    return fail(invalid_request("warm_jails", fmt::format("{} jails are too many to keep ready", config.warm_jails),
                                fmt::format("keep at most {}", spawn::wire::kMaxWarmJails)));
  }
  return {};
}

// Which repo it is, is settled now, whatever symlink leads elsewhere later. One that is not there is refused by each call.
void settle_repo(GateConfig& config) {
  if (Result<std::filesystem::path> repo = canonical_directory(config.repo, "repo")) config.repo = *std::move(repo);
}

// Why the policy cannot be used. One that was read is not named any more: the closed set is what it said.
std::optional<Error> read_policy(GateConfig& config) {
  if (!config.policy) return std::nullopt;
  Result<Allowlist> read = load_allowlist(config.policy, config.repo);
  if (!read) return std::move(read).error();
  config.allowlist = *std::move(read);
  config.policy.reset();
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<HostGate>> HostGate::open(GateConfig config, spawn::SupplyFor runs) {
  TRY(check_config(config));
  settle_repo(config);
  std::optional<Error> no_policy = read_policy(config);
  auto builtin = std::make_unique<BuiltinJails>(config.warm_jails, runs);
  std::vector<Jail*> jails = builtin->all();
  jails.insert(jails.end(), config.own_jails.begin(), config.own_jails.end());
  JailSet set = TRY(JailSet::of(jails, config.auto_jails));
  return std::unique_ptr<HostGate>(
      new HostGate(std::move(config), std::move(no_policy), std::move(set), std::move(builtin)));
}

Result<std::unique_ptr<Gate>> Gate::open(GateConfig config) { return TRY(HostGate::open(std::move(config))); }

Result<std::unique_ptr<Gate>> open_gate_for_one_run(GateConfig config) {
  return TRY(HostGate::open(std::move(config), spawn::SupplyFor::kOneRun));
}

}  // namespace sallyport
