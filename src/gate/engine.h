// The engine behind Gate: every call goes through it, whichever jail runs it. It holds what outlives a call (hash
// cache, host layout, digests) and no state of any one call; it knows jails by their port only.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "gate/call_host.h"
#include "gate/jail_set.h"
#include "gate/prepare.h"
#include "locate/hash_cache.h"
#include "os/host_root.h"
#include "sallyport/gate.h"

namespace sallyport {

// What a run needs to know besides the call itself.
struct RunNotes {
  bool silent = false;                // a question of our own, before the call's run: no events
  std::chrono::microseconds spent{};  // of the call's wall clock, before this run
};

class Engine : public Gate {
 public:
  // Borrows `jails` and `root`. `unusable`: why this gate can run nothing (its policy could not be read, this process
  // may open too few files); the gate refuses every call with it.
  Engine(GateConfig config, std::optional<Error> unusable, JailSet jails, SharedHostRoot& root);

  [[nodiscard]] Result<JailedSubprocessResult> run(const JailedSubprocessSpec& spec, JailKind jail,
                                                   std::stop_token stop) override;
  [[nodiscard]] Result<Explanation> explain(const JailedSubprocessSpec& spec, JailKind jail) override;
  [[nodiscard]] Status warm_up(const JailedSubprocessSpec& spec) override;
  [[nodiscard]] WarmCounts warm_counts() override;
  [[nodiscard]] std::vector<JailOffer> jails() const override { return jails_.offers(); }
  [[nodiscard]] Error refuse(const Error& why) override;
  [[nodiscard]] const GateConfig& config() const override { return config_; }

 private:
  // A whole call, from admission to receipt, every refusal included. run() wraps it and records the call: the intent
  // before, the result or the refusal after.
  [[nodiscard]] Result<JailedSubprocessResult> perform(const JailedSubprocessSpec& spec, JailKind kind,
                                                       const std::stop_token& stop);
  [[nodiscard]] Result<JailedSubprocessResult> perform_admitted(AdmittedCall call, std::span<Jail* const> candidates,
                                                                const JailedSubprocessSpec& spec, JailKind kind,
                                                                const std::stop_token& stop);
  [[nodiscard]] Result<Explanation> explain_admitted(AdmittedCall call, std::span<Jail* const> candidates,
                                                     const JailedSubprocessSpec& spec, JailKind kind);
  [[nodiscard]] AuditCall for_audit(const JailedSubprocessSpec& spec, JailKind jail);
  [[nodiscard]] Result<JailedSubprocessResult> try_in(Jail& jail, Prepared& prepared, const JailedSubprocessSpec& spec,
                                                      const std::stop_token& stop);
  // Asks git first, if the call needs that.
  [[nodiscard]] Result<JailedSubprocessResult> run_informed(Jail& jail, Prepared& prepared,
                                                            const JailedSubprocessSpec& spec,
                                                            const std::stop_token& stop);
  [[nodiscard]] Result<JailedSubprocessResult> ask_git(Jail& jail, const RepoOfCall& repo,
                                                       const JailedSubprocessSpec& question, const GateConfig& config,
                                                       const std::stop_token& stop);
  void warn_of_newer_git(const std::string& version);
  [[nodiscard]] Result<JailedSubprocessResult> run_in(Jail& jail, Prepared& prepared, const JailedSubprocessSpec& spec,
                                                      const std::stop_token& stop, RunNotes notes = {});
  [[nodiscard]] Result<AdmittedCall> admit_here(const JailedSubprocessSpec& spec) const;
  [[nodiscard]] Status make_ready(Jail& jail, Prepared& prepared, const JailedSubprocessSpec& spec, Purpose purpose);
  [[nodiscard]] EngineCallHost host_for(Prepared& prepared, Purpose purpose) {
    return {config_, purpose == Purpose::kRun ? hashes_ : hashes_when_explaining_, root_, prepared, purpose};
  }
  [[nodiscard]] const std::string& digest_of_policy();

  const GateConfig config_;
  const std::optional<Error> unusable_;
  const JailSet jails_;
  SharedHostRoot& root_;
  std::once_flag policy_digested_;
  std::string policy_digest_;  // through digest_of_policy()
  HashCache hashes_;
  HashCache hashes_when_explaining_;
  ChildPath child_path_;
  std::once_flag swept_;
  std::once_flag warned_of_git_;
};

}  // namespace sallyport
