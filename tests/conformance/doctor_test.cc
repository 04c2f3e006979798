// sallyport doctor, as a user would call it. It makes the attacks of attacks_test.cc; this tests its output.
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "conformance/surroundings.h"
#include "sallyport/gate.h"
#include "support/installed.h"
#include "support/program.h"

namespace sallyport::conformance {
namespace {

using test::ProgramResult;
using test::run_program;

TEST(Doctor, SaysWhichJailsWork) {
  const ProgramResult text = run_program({test::sallyport_binary(), "doctor"});
  EXPECT_EQ(text.exit_code, 0) << text.stderr_bytes;
  EXPECT_TRUE(text.stdout_bytes.starts_with("native       works\n")) << text.stdout_bytes;
  const ProgramResult json = run_program({test::sallyport_binary(), "doctor", "--json", "--jail", "native"});
  EXPECT_EQ(json.exit_code, 0);
  EXPECT_TRUE(
      json.stdout_bytes.starts_with(R"({"schema":"sallyport.doctor/1","jails":[{"jail":"native","usable":true)"))
      << json.stdout_bytes;
}

// Doctor lists every jail of the gate, each with an answer, and does not start a slow jail that the user did not name.
TEST(Doctor, ListsEveryJailAndSaysWhyOneIsMissing) {
  const ProgramResult result = run_program({test::sallyport_binary(), "doctor", "--json"});
  std::set<std::string> named;
  const nlohmann::json jails = nlohmann::json::parse(result.stdout_bytes).at("jails");
  for (const nlohmann::json& entry : jails) {
    named.insert(entry.at("jail"));
    EXPECT_NE(entry.at("usable").get<bool>(), entry.contains("error")) << entry;
  }
  std::set<std::string> offered;
  const std::unique_ptr<Gate> gate = Gate::open({}).value();
  for (const JailOffer& jail : gate->jails()) {
    if (jail.confinement != Confinement::kNone) offered.emplace(jail.kind.name());
  }
  EXPECT_EQ(named, offered);
  EXPECT_TRUE(named.contains("sandbox-exec") && named.contains("microvm-tcg"));
  EXPECT_FALSE(named.contains("none"));
}

// Doctor takes the mechanism from a real run, not from a table, which could be wrong.
TEST(Doctor, SaysByWhatAWishIsKept) {
  const ProgramResult result = run_program({test::sallyport_binary(), "doctor", "--json"});
  const nlohmann::json jails = nlohmann::json::parse(result.stdout_bytes).at("jails");
  const auto asked = [&](std::string_view jail, std::string_view guarantee) {
    for (const nlohmann::json& entry : jails) {
      if (entry.at("jail") != jail || !entry.at("usable")) continue;
      for (const nlohmann::json& one : entry.at("when_asked")) {
        if (one.at("name") == guarantee) return one.at("mechanism").get<std::string>();
      }
      return std::string("-");
    }
    return std::string("no such jail");
  };
  EXPECT_TRUE(asked("native", "net.egress_allowlist").starts_with("network namespace"));
  EXPECT_TRUE(asked("landlock", "net.egress_allowlist").starts_with("seccomp"));
  EXPECT_NE(asked("native", "limit.memory"), "-");
  EXPECT_NE(asked("native", "limit.cpu"), "-");
  const std::string gvisor = asked("gvisor", "limit.cpu");
  EXPECT_TRUE(gvisor == "-" || gvisor == "no such jail") << gvisor;
}

TEST(Doctor, SaysWhyAJailDoesNotWork) {
  const test::TempDir empty;
  const ProgramResult result = run_program({test::sallyport_binary(), "doctor", "--jail", "bwrap"},
                                           {.environment = test::Environment{{"PATH", empty.path()}}});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.stdout_bytes.find("bwrap"), std::string::npos);
  EXPECT_EQ(result.stdout_bytes.find("works"), std::string::npos) << result.stdout_bytes;
}

TEST(Doctor, RefusesAJailItDoesNotKnow) {
  EXPECT_EQ(run_program({test::sallyport_binary(), "doctor", "--attack", "--jail", "castle"}).exit_code, 125);
}

// One attack is enough to show both answers; all of them take a minute.
TEST(Doctor, ExitsWithZeroWhenAllHeldAndOneWhenAnyGotThrough) {
  const auto attack = [](const char* jail) {
    return run_program(
        {test::sallyport_binary(), "doctor", "--attack", "--only", "write_outside", "--jail", jail, "--json"});
  };
  const ProgramResult held = attack("native");
  EXPECT_EQ(held.exit_code, 0) << held.stderr_bytes;
  EXPECT_NE(held.stdout_bytes.find(R"("control":"got through","jailed":"blocked","held":true)"), std::string::npos)
      << held.stdout_bytes;
  const ProgramResult broken = attack("none");
  EXPECT_EQ(broken.exit_code, 1) << broken.stderr_bytes;
  EXPECT_NE(broken.stdout_bytes.find(R"("jailed":"got through","held":false)"), std::string::npos)
      << broken.stdout_bytes;
}

TEST(Doctor, RefusesAnAttackItDoesNotKnow) {
  const ProgramResult unknown = run_program({test::sallyport_binary(), "doctor", "--attack", "--only", "nonsense"});
  EXPECT_EQ(unknown.exit_code, 125) << unknown.stdout_bytes;
}

}  // namespace
}  // namespace sallyport::conformance
