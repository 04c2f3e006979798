// The log has a call in an embedder's own jail like one in a built-in jail (C33). The toy is CONTRIBUTING.md's own.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/errors.h"
#include "core/json/json.h"
#include "gate/gate_fixture.h"
#include "sallyport/audit.h"
#include "sallyport/event_name.h"
#include "sallyport/jail_port.h"

namespace sallyport::test {
namespace {

#include "toy_jail.inc"

constexpr JailKind kAuditedToy{"toy"};

// A log that takes no intent, or no end.
class FullLog final : public AuditSink {
 public:
  explicit FullLog(bool takes_intents) : takes_intents_(takes_intents) {}
  [[nodiscard]] Result<std::string> begin(const AuditCall&) override {
    if (takes_intents_) return std::string(32, '7');
    return fail(full());
  }
  [[nodiscard]] Status end(const std::string&, const AuditCall&, const Result<JailedSubprocessResult>&) override {
    return fail(full());
  }
  [[nodiscard]] Status refused(const AuditCall&, const Error&) override { return fail(full()); }

 private:
  [[nodiscard]] static Error full() { return audit_failed("the test's", ENOSPC, "it is full", {}); }
  const bool takes_intents_;
};

class OwnJailAudit : public GateTest {
 protected:
  [[nodiscard]] std::unique_ptr<Gate> open_over(AuditSink& log) {
    GateConfig audited = config();
    audited.own_jails = {&toy_};
    audited.audit = &log;
    return Gate::open(std::move(audited)).value();
  }
  [[nodiscard]] std::vector<Json> records() const {
    std::vector<Json> found;
    for (const auto& file : std::filesystem::directory_iterator(place_)) {
      if (file.path().extension() != ".jsonl") continue;
      std::ifstream lines(file.path());
      for (std::string line; std::getline(lines, line);) found.push_back(Json::parse(line));
    }
    return found;
  }
  [[nodiscard]] std::size_t started() const { return events_.named(event_name::kJailWrapped).size(); }

  ToyJail toy_;
  const std::filesystem::path place_ = dir_ / "audit";
  const std::unique_ptr<AuditSink> log_ = open_audit_log({.directory = place_}).value();
};

TEST_F(OwnJailAudit, C33_a_run_leaves_an_intent_and_a_result_that_name_the_jail) {
  const std::unique_ptr<Gate> gate = open_over(*log_);
  const JailedSubprocessResult result = run(*gate, spec({"exit_with", "7"}), kAuditedToy);
  EXPECT_EQ(exit_code(result), 7);
  EXPECT_EQ(started(), 1U);
  const std::vector<Json> all = records();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["kind"], "intent");
  EXPECT_EQ(all[0]["run"], result.audit_run);
  EXPECT_EQ(all[0]["request"]["jail"], "toy");
  EXPECT_EQ(all[0]["request"]["argv"], Json::array({"exit_with", "7"}));
  EXPECT_EQ(all[1]["kind"], "result");
  EXPECT_EQ(all[1]["run"], result.audit_run);
  EXPECT_EQ(all[1]["outcome"]["exit_code"], 7);
  EXPECT_EQ(all[1]["receipt"], json_of(result.receipt));
  EXPECT_EQ(all[1]["receipt"]["jail"], "toy");
  EXPECT_EQ(all[1]["receipt"]["binary"]["digest"], "sha256:70f5");
}

TEST_F(OwnJailAudit, C33_a_refused_call_leaves_an_intent_and_a_refusal_with_its_reason) {
  const std::unique_ptr<Gate> gate = open_over(*log_);
  ASSERT_FALSE(gate->run(spec({"bash", "-c", "true"}), kAuditedToy, {}));
  JailedSubprocessSpec wanting = spec({"exit_with", "0"});
  wanting.required = {Guarantee::kFsHomeHidden};  // the toy does not give it
  ASSERT_FALSE(gate->run(wanting, kAuditedToy, {}));
  EXPECT_EQ(started(), 0U);
  const std::vector<Json> all = records();
  ASSERT_EQ(all.size(), 4U);
  const std::array<std::string, 2> reasons = {"disallowed_subprocess", "guarantee_unavailable"};
  for (std::size_t call = 0; call < reasons.size(); ++call) {
    const Json& intent = all[2 * call];
    const Json& refusal = all[2 * call + 1];
    EXPECT_EQ(intent["kind"], "intent");
    EXPECT_EQ(intent["request"]["jail"], "toy");
    EXPECT_EQ(refusal["kind"], "refusal");
    EXPECT_EQ(refusal["run"], intent["run"]);
    EXPECT_EQ(refusal["error"]["kind"], reasons.at(call));
  }
  EXPECT_NE(all[0]["run"], all[2]["run"]);
}

TEST_F(OwnJailAudit, C33_what_cannot_be_recorded_does_not_start_there) {
  FullLog full(false);
  const Result<JailedSubprocessResult> refused = open_over(full)->run(spec({"exit_with", "0"}), kAuditedToy, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().as<AuditFailed>(), nullptr) << refused.error().message;
  EXPECT_FALSE(refused.error().tool_may_have_started);
  EXPECT_EQ(started(), 0U);
  EXPECT_TRUE(open_over(*log_)->run(spec({"exit_with", "0"}), kAuditedToy, {}));  // the control
  EXPECT_EQ(started(), 1U);
}

TEST_F(OwnJailAudit, C33_a_result_that_cannot_be_recorded_is_withheld) {
  FullLog full_later(true);
  const Result<JailedSubprocessResult> withheld = open_over(full_later)->run(spec({"exit_with", "0"}), kAuditedToy, {});
  ASSERT_FALSE(withheld);
  EXPECT_NE(withheld.error().as<AuditFailed>(), nullptr) << withheld.error().message;
  EXPECT_TRUE(withheld.error().tool_may_have_started);
  EXPECT_EQ(started(), 1U) << "it ran, unlike one whose intent could not be recorded";
}

}  // namespace
}  // namespace sallyport::test
