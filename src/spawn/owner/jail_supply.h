// The one object that knows which process will start a tool, and what was built for it ahead.
//
//   started ahead   the jail of an owner that makes one run, started while the owner still works out what to run
//   warm            a whole jail of the same shape that waits for a run (WarmPool)
//   fresh           a jail built for this run, over the base that all jails of this owner share
//   of another      a jail whose tool runs as another user: the owner is root, and another user owns the repo (ADR 0066)
//   no jail         a worker, for a tool without a jail or for a wrapper that builds one
//
// A warm jail can turn out to be unsound: it says so itself and has started nothing. The run then gets a fresh one
// (start_instead_of). One that was started ahead for this very run has no successor: the start fails.
//
// Thread-safe. The destructor ends every helper and waits for it; see HelperClient.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "sallyport/jail_port.h"
#include "spawn/owner/helper_client.h"
#include "spawn/owner/warm_pool.h"

namespace sallyport::spawn {

// Whether jails come from a helper that lives as long as the owner, or each is a child of the owner itself (ADR 0014).
enum class SupplyFor : std::uint8_t { kManyRuns, kOneRun };

struct SupplyOptions {
  SupplyFor runs = SupplyFor::kManyRuns;
  std::function<JailShape()> base{};  // what all jails of this owner share; called once for each HelperClient
  std::size_t warm_jails = 0;         // how many jails wait; 0: none
};

// A run under way, and the helper that started it. `helper` stays alive as long as the run is held.
struct StartedRun {
  Started run{};
  std::shared_ptr<HelperClient> helper{};
  bool built_ahead = false;  // if it reports wire::kNotBuilt, start_instead_of() gives another
};

class JailSupply {
 public:
  explicit JailSupply(SupplyOptions options);

  // Starts from the best source that fits. An error means that nothing was started.
  [[nodiscard]] Result<StartedRun> start(const LaunchSpec& spec, Stdio stdio);

  // `unsound` reported wire::kNotBuilt. No other jail that was built with it is used again.
  [[nodiscard]] Result<StartedRun> start_instead_of(const StartedRun& unsound, const LaunchSpec& spec, Stdio stdio);

  // Starts a jail, or the helper for jails, before there is a run for it. When that fails, start() tries again.
  [[nodiscard]] Status start_ahead() { return jails_->start_ahead(); }

  // Keeps warm jails for runs like this one from now on.
  [[nodiscard]] Status keep_warm(const LaunchSpec& spec) { return warm_.prepare(spec); }
  [[nodiscard]] WarmCounts warm_counts() { return warm_.counts(); }

  // Tests only: warm jails are not built beyond that step.
  void fail_warm_jails_at_for_tests(wire::Stage stage) { warm_.fail_at_for_tests(stage); }
  // Tests only: the pid of the running helper for jails, else of the other helper; 0 when none runs.
  [[nodiscard]] pid_t helper_pid_for_tests();

 private:
  [[nodiscard]] std::shared_ptr<HelperClient> jails_of(const UserIds& another);

  const SupplyOptions options_;
  const std::shared_ptr<HelperClient> workers_;
  const std::shared_ptr<HelperClient> jails_;
  // Only for the last such user: usually one user owns many repos. Runs under way keep their helper.
  std::mutex mutex_;
  std::optional<UserIds> another_{};
  std::shared_ptr<HelperClient> jails_of_another_{};
  WarmPool warm_;
};

}  // namespace sallyport::spawn
