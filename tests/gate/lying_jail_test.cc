// Jails of an embedding program that break the port's rules: the gate believes none of their claims, and does not crash.
#include <fcntl.h>
#include <sys/eventfd.h>

#include <functional>
#include <utility>

#include "core/errors.h"
#include "gate/gate_fixture.h"
#include "sallyport/external_cli.h"
#include "sallyport/jail_port.h"

namespace sallyport::test {
namespace {

constexpr JailKind kLiar{"liar"};

enum class Lie {
  kNone,
  kEstablishesLess,
  kListsNonsense,
  kResolvesNothing,
  kStagesNothing,
  kStartsNothing,
  kIsMissingAfterItsStart,
};

// Starts, and ends when it is stopped or, left alone, at once.
class LiarsRun final : public LiveRun {
 public:
  LiarsRun(Lie lie, bool& stopped) : event_(::eventfd(2, EFD_CLOEXEC | EFD_SEMAPHORE)), lie_(lie), stopped_(stopped) {}
  [[nodiscard]] int event_fd() const override { return event_.get(); }
  [[nodiscard]] Result<RunReport> next() override {
    eventfd_t one = 0;
    ::eventfd_read(event_.get(), &one);
    if (!std::exchange(started_, true)) return RunReport(ToolStarted{});
    if (lie_ == Lie::kIsMissingAfterItsStart) return fail(jail_unavailable(kLiar, "it is not there", ""));
    return RunReport(ToolEnded{.wait_status = 0, .is_last = true});
  }
  void stop(StopStep) override { stopped_ = true; }

 private:
  UniqueFd event_;
  const Lie lie_;
  bool& stopped_;
  bool started_ = false;
};

class LiarsStage final : public StagedRun {
 public:
  LiarsStage(Lie lie, bool& stopped) : lie_(lie), stopped_(stopped) {}
  [[nodiscard]] std::vector<Established> would_establish() const override {
    return {{Guarantee::kNetIsolated, Mechanism::kJailsOwn}, {Guarantee::kLimitWall, Mechanism::kSupervisor}};
  }
  [[nodiscard]] std::vector<Established> established(const RunFacts&) const override {
    std::vector<Established> all = would_establish();
    if (lie_ == Lie::kEstablishesLess) all.erase(all.begin());
    if (lie_ == Lie::kListsNonsense) all.push_back({static_cast<Guarantee>(200), Mechanism::kJailsOwn});
    return all;
  }
  [[nodiscard]] Result<std::unique_ptr<LiveRun>> start(const ToolStreams&) override {
    if (lie_ == Lie::kStartsNothing) return std::unique_ptr<LiveRun>();
    return std::make_unique<LiarsRun>(lie_, stopped_);
  }

 private:
  const Lie lie_;
  bool& stopped_;
};

class Liar final : public Jail {
 public:
  explicit Liar(Lie lie) : lie_(lie) {}
  [[nodiscard]] std::string_view name() const override { return kLiar.name(); }
  [[nodiscard]] Result<std::shared_ptr<const Executable>> resolve(const Plan&, CallHost& host) override {
    if (lie_ == Lie::kResolvesNothing) return std::shared_ptr<const Executable>();
    return host.pin_tool();
  }
  [[nodiscard]] Result<std::unique_ptr<StagedRun>> stage(const StageRequest&) override {
    if (lie_ == Lie::kStagesNothing) return std::unique_ptr<StagedRun>();
    return std::make_unique<LiarsStage>(lie_, stopped_);
  }
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  const Lie lie_;
  bool stopped_ = false;
};

class LyingJail : public GateTest {
 protected:
  [[nodiscard]] Result<JailedSubprocessResult> run_in(Liar& liar, std::vector<Guarantee> required) {
    GateConfig with_liar = config();
    with_liar.own_jails = {&liar};
    const std::unique_ptr<Gate> gate = Gate::open(std::move(with_liar)).value();
    JailedSubprocessSpec what = spec({"exit_with", "0"});
    what.required = std::move(required);
    return gate->run(what, kLiar, {});
  }
};

TEST_F(LyingJail, C26_a_run_that_lacks_what_is_required_is_stopped_and_is_no_result) {
  Liar honest(Lie::kNone);
  EXPECT_TRUE(run_in(honest, {Guarantee::kNetIsolated}));  // control
  EXPECT_FALSE(honest.stopped());
  Liar liar(Lie::kEstablishesLess);
  const Result<JailedSubprocessResult> refused = run_in(liar, {Guarantee::kNetIsolated});
  ASSERT_FALSE(refused);
  const auto* const missing = refused.error().as<GuaranteeUnavailable>();
  ASSERT_NE(missing, nullptr) << refused.error().message;
  EXPECT_EQ(missing->guarantee, Guarantee::kNetIsolated);
  EXPECT_TRUE(liar.stopped());
  // A caller who requires nothing sees it in the receipt.
  const Result<JailedSubprocessResult> weaker = run_in(liar, {});
  ASSERT_TRUE(weaker);
  EXPECT_EQ(mechanism_of(*weaker, Guarantee::kNetIsolated), "");
}

TEST_F(LyingJail, what_names_no_guarantee_is_in_no_receipt_and_cannot_be_required) {
  Liar liar(Lie::kListsNonsense);
  const Result<JailedSubprocessResult> result = run_in(liar, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->receipt.established.size(), 2U);
  const Result<JailedSubprocessResult> refused = run_in(liar, {static_cast<Guarantee>(200)});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().as<InvalidRequest>(), nullptr) << refused.error().message;
}

TEST_F(LyingJail, one_that_gives_nothing_is_a_typed_error) {
  for (const Lie lie : {Lie::kResolvesNothing, Lie::kStagesNothing, Lie::kStartsNothing}) {
    Liar liar(lie);
    const Result<JailedSubprocessResult> refused = run_in(liar, {});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().as<JailUnavailable>(), nullptr) << refused.error().message;
  }
}

TEST_F(LyingJail, C17_a_tool_that_may_have_started_is_not_started_again_without_a_jail) {
  const std::filesystem::path mark = repo_ / "mark";
  const auto run_probe = [&](Lie lie) {
    Liar liar(lie);
    GateConfig only_liar = config();
    only_liar.own_jails = {&liar};
    only_liar.auto_jails = {kLiar};
    const std::unique_ptr<Gate> gate = Gate::open(std::move(only_liar)).value();
    return run_external_cli(*gate, "p", {"leave_mark", mark.string()},
                            {.cwd = repo_, .timeout = std::chrono::minutes(1)});
  };
  const Result<ProcessResult> started = run_probe(Lie::kIsMissingAfterItsStart);
  ASSERT_FALSE(started);
  EXPECT_TRUE(started.error().tool_may_have_started) << started.error().message;
  EXPECT_FALSE(std::filesystem::exists(mark));
  const Result<ProcessResult> missing = run_probe(Lie::kResolvesNothing);  // the control
  ASSERT_TRUE(missing) << missing.error().message;
  EXPECT_TRUE(std::filesystem::exists(mark));
}

}  // namespace
}  // namespace sallyport::test
