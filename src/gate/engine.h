// The engine behind Gate: holds what outlives a call (spawn helper, hash cache, host layout) and nothing about any one.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "core/view/fs_view.h"
#include "core/view/view_guarantees.h"
#include "gate/egress_session.h"
#include "gate/prepare.h"
#include "gate/resources.h"
#include "locate/hash_cache.h"
#include "os/host_layout.h"
#include "sallyport/gate.h"
#include "spawn/owner/jail_supply.h"
#include "spawn/owner/supervise.h"

namespace sallyport {

// A call made ready for one kind of jail: what to start and what that will establish.
struct Rendered {
  std::string jail{};
  spawn::LaunchSpec launch{};
  std::vector<Established> established{};  // resources included
  std::vector<LostGuarantee> lost{};       // not in `established`, because of a path that is shown
  bool landlock_guards_all = false;        // that is read-only; if the kernel has Landlock
  Resources resources{};
  std::vector<UniqueFd> kept_open{};  // what `launch` borrows
};

// What a run is told besides the call itself.
struct RunNotes {
  bool silent = false;                // a question of our own: no events
  std::chrono::microseconds spent{};  // of the call's wall clock, before this run
};

class Engine final : public Gate {
 public:
  explicit Engine(GateConfig config, spawn::SupplyFor runs = spawn::SupplyFor::kManyRuns);

  [[nodiscard]] Result<JailedSubprocessResult> run(const JailedSubprocessSpec& spec, JailKind jail,
                                                   std::stop_token stop) override;
  [[nodiscard]] Result<Explanation> explain(const JailedSubprocessSpec& spec, JailKind jail) override;
  [[nodiscard]] Status warm_up(const JailedSubprocessSpec& spec) override;
  [[nodiscard]] WarmCounts warm_counts() override { return supply_.warm_counts(); }
  [[nodiscard]] const GateConfig& config() const override { return config_; }

  // Ahead of the run it is for. When it cannot be started, that run tries again and reports why.
  void start_jail_ahead() { static_cast<void>(supply_.start_ahead()); }

  // Tests only: every jailed start of this engine fails at that step. It can only deny.
  void fail_at_for_tests(spawn::wire::Stage stage) { fault_ = stage; }
  // Tests only: jails built ahead of the runs that want them stop at that step.
  void fail_warm_jails_at_for_tests(spawn::wire::Stage stage) { supply_.fail_warm_jails_at_for_tests(stage); }
  // Tests only: of the helper that runs, that for jails first; 0 when none does.
  [[nodiscard]] int helper_pid_for_tests() { return supply_.helper_pid_for_tests(); }

 private:
  [[nodiscard]] Result<JailedSubprocessResult> run_auto(Prepared& prepared, const JailedSubprocessSpec& spec,
                                                        const std::stop_token& stop);
  // Asks git first, where the call wants that.
  [[nodiscard]] Result<JailedSubprocessResult> run_informed(JailKind jail, Prepared& prepared,
                                                            const JailedSubprocessSpec& spec,
                                                            const std::stop_token& stop);
  [[nodiscard]] Result<JailedSubprocessResult> ask_git(JailKind jail, const JailedSubprocessSpec& question,
                                                       const GateConfig& config, const std::stop_token& stop);
  void warn_of_newer_git(const std::string& version);
  [[nodiscard]] Result<JailedSubprocessResult> run_in(JailKind jail, const Prepared& prepared,
                                                      const JailedSubprocessSpec& spec, const std::stop_token& stop,
                                                      RunNotes notes = {});
  [[nodiscard]] Result<Rendered> render(JailKind jail, const Prepared& prepared, Purpose purpose);
  [[nodiscard]] Result<Rendered> render_none(const Prepared& prepared, Purpose purpose);
  [[nodiscard]] Result<Rendered> render_native(const Prepared& prepared, Purpose purpose);
  [[nodiscard]] Result<Rendered> render_bwrap(const Prepared& prepared, Purpose purpose);
  struct Digests {
    std::string policy{};
    std::string plan{};
  };
  [[nodiscard]] const std::string& digest_of_policy();
  [[nodiscard]] static Receipt receipt_for(const Prepared& prepared, Rendered& rendered, Digests digests,
                                           const spawn::Ended& ended, const EgressSession& egress);
  [[nodiscard]] const HostLayout& host();
  // What all jails of ours share, whatever the call.
  [[nodiscard]] spawn::JailShape base_of_jails();
  [[nodiscard]] HashCache& hashes_for(Purpose purpose) {
    return purpose == Purpose::kRun ? hashes_ : hashes_when_explaining_;
  }
  void announce(const Rendered& rendered, const Plan& plan) const;

  GateConfig config_;
  std::once_flag policy_digested_;
  std::string policy_digest_;  // through digest_of_policy()
  HashCache hashes_;
  HashCache hashes_when_explaining_;
  ChildPath child_path_;
  std::mutex host_mutex_;
  std::optional<HostLayout> host_;
  std::once_flag swept_;
  std::once_flag warned_of_git_;
  spawn::wire::Stage fault_ = spawn::wire::Stage::kNone;
  spawn::JailSupply supply_;  // last: it asks us for base_of_jails()
};

}  // namespace sallyport
