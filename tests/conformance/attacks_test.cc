// Every attack against every jail, as root and as a plain user (C20, C22, C26, C34). The positive control must work,
// or stand in src/attack/program/impossible_here.txt with the reason.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <tuple>
#include <vector>

#include "attack/cases.h"
#include "conformance/surroundings.h"
#include "sallyport/gate.h"
#include "support/deep.h"
#include "support/jails.h"
#include "support/program.h"

namespace sallyport::attack {
// Else a test's name would hold addresses, and be another one each time.
static void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }
}  // namespace sallyport::attack

namespace sallyport::conformance {
namespace {

using attack::Got;

// An OCI runtime takes long to start: it meets the first attack on each guarantee, in the deep tests every one.
std::vector<JailKind> jails_for(const attack::Case& one) {
  std::vector<JailKind> jails = test::confining_jails();
  const auto first = std::ranges::find(attack::kCases, one.guarantee, &attack::Case::guarantee);
  if (!test::deep() && first->name != one.name) std::erase(jails, kOciJail);
  return jails;
}

std::string_view name_of(Who who) { return who == Who::kRoot ? "root" : "user"; }

bool may_be_impossible(std::string_view attack, Who who) {
  std::ifstream file(SALLYPORT_TEST_IMPOSSIBLE);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    std::string whose;
    std::string reason;
    words >> name >> whose >> reason;
    if (name == attack && !reason.empty() && (whose == "both" || whose == name_of(who))) return true;
  }
  return false;
}

// By the table of guarantees, each jail's own: who requires one of these there is refused.
bool must_be_refused(const attack::Case& one, JailKind jail) {
  static const std::vector<JailOffer> offers = Gate::open({}).value()->jails();
  const auto offer = std::ranges::find(offers, jail, &JailOffer::kind);
  if (offer == offers.end()) ADD_FAILURE() << "no jail is called " << jail.name();
  // An attack on the verdict requires nothing.
  return offer != offers.end() && one.effect != attack::Effect::kForgesVerdict &&
         std::ranges::find(offer->never_gives, one.guarantee) != offer->never_gives.end();
}

// What a jail gives, and this host or this call does not let it: everything else that is refused is a guarantee lost.
// A user who can make no cgroup cannot have the limits that take one, and gets a refusal instead of less.
bool may_be_refused(const attack::Case& one, Who who) {
  constexpr std::array kWithoutCgroup = {Guarantee::kLimitWall, Guarantee::kLimitOutput, Guarantee::kLimitDisk};
  return who == Who::kUser && sallyport::name_of(one.guarantee).starts_with("limit.") &&
         std::ranges::find(kWithoutCgroup, one.guarantee) == kWithoutCgroup.end();
}

// A workspace, and anything closed inside something writable, which is what protects git (docs/jails.md).
bool may_be_refused_by_landlock(const attack::Case& one) {
  using attack::Prop;
  return has(one.props, Prop::kGitRepo) || has(one.props, Prop::kClosedCorner) || has(one.props, Prop::kWorkspace) ||
         has(one.props, Prop::kDeviceNode);
}

void check(const attack::Finding& finding, JailKind jail, Who who) {
  const attack::Case& one = *finding.attack;
  if (finding.control.got != Got::kThrough) {
    EXPECT_EQ(finding.control.got, Got::kImpossible) << finding.control.why;
    EXPECT_TRUE(may_be_impossible(one.name, who)) << "not in impossible_here.txt: " << finding.control.why;
    // Where not even the attack's surroundings can be made there is nothing to block.
    if (finding.jailed.got == Got::kNotTried) return;
  }
  if (must_be_refused(one, jail)) {
    EXPECT_EQ(finding.jailed.got, Got::kRefused) << attack::name_of(finding.jailed.got) << " " << finding.jailed.why;
    return;
  }
  if (finding.jailed.got == Got::kRefused) {
    EXPECT_TRUE(may_be_refused(one, who) || (jail == JailKind::kLandlock && may_be_refused_by_landlock(one)))
        << finding.jailed.why;
    return;
  }
  EXPECT_EQ(finding.jailed.got, Got::kBlocked) << attack::name_of(finding.jailed.got) << " " << finding.jailed.why;
}

class Attack : public testing::TestWithParam<std::tuple<attack::Case, Who>> {};

TEST_P(Attack, WorksWithoutAJailAndIsBlockedBehindEveryOne) {
  const auto& [one, who] = GetParam();
  if (who == Who::kRoot && geteuid() != 0) GTEST_SKIP() << "not root";
  const std::vector<JailKind> jails = jails_for(one);
  const std::vector<attack::Finding> findings = Stage(who).perform(one, jails);
  ASSERT_EQ(findings.size(), jails.size());
  for (std::size_t i = 0; i < jails.size(); ++i) {
    SCOPED_TRACE(jails[i].name());
    check(findings[i], jails[i], who);
  }
}

INSTANTIATE_TEST_SUITE_P(, Attack,
                         testing::Combine(testing::ValuesIn(attack::kCases), testing::Values(Who::kRoot, Who::kUser)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).name) + "_" +
                                  std::string(name_of(std::get<1>(test.param)));
                         });

TEST(SeparateKernel, IsNotTheHostsInGvisor_C40) {
  const attack::Finding finding = Stage(Who::kUser).perform(*attack::find_case("same_kernel"), kGvisorJail);
  EXPECT_EQ(finding.control.got, Got::kThrough) << finding.control.why;
  EXPECT_EQ(finding.jailed.got, Got::kBlocked) << attack::name_of(finding.jailed.got) << " " << finding.jailed.why;
}

// The attacks on egress are made of these messages with one thing changed: unchanged they do reach the allowed host.
TEST(HonestEgress, GetsThroughEveryJail_C24) {
  const Stage stage(Who::kUser);
  for (const JailKind jail : test::confining_jails()) {
    for (const std::string_view name : {"honest_http", "honest_tls", "honest_split_hello", "honest_late_name",
                                        "named_honest_http", "named_honest_nats"}) {
      const attack::Case honest{name, Guarantee::kNetEgressAllowlist, attack::Effect::kSmuggled, attack::Prop::kEgress,
                                "be honest"};
      const attack::Finding finding = stage.perform(honest, jail);
      EXPECT_EQ(finding.jailed.got, Got::kThrough) << name << ": " << finding.jailed.why;
    }
  }
}

// Also: every case has its deed, or --list fails.
TEST(AttackTable, IsTheOneInTheDocuments) {
  const test::ProgramResult list = test::run_program({attack_program(), "--list"});
  EXPECT_EQ(list.exit_code, 0) << list.stderr_bytes;
  EXPECT_NE(test::read_file(SALLYPORT_TEST_ATTACKS_DOC).find(list.stdout_bytes), std::string::npos)
      << "put the output of sallyport-attack --list into docs/attacks.md";
}

// Attacks what a run without a jail promises as well.
TEST(AttackWithoutAJail, IsBlockedWhereTheGateAlonePromisesIt) {
  const Stage stage(geteuid() == 0 ? Who::kRoot : Who::kUser);
  for (const std::string_view name :
       {"env_secrets", "ld_preload", "setuid_program", "orphan", "double_fork", "ignored_sigterm", "output_flood",
        "planted_in_repo", "swapped_binary", "unlisted_tool", "forge_exit_137"}) {
    const attack::Finding finding = stage.perform(*attack::find_case(name), JailKind::kNone);
    if (finding.control.got == Got::kImpossible) continue;
    EXPECT_EQ(finding.jailed.got, Got::kBlocked) << name << ": " << finding.jailed.why;
  }
}

// The judge's own control: it does see what gets through the gate.
TEST(AttackWithoutAJail, GetsThroughWhereOnlyAJailPromises) {
  const Stage stage(geteuid() == 0 ? Who::kRoot : Who::kUser);
  for (const std::string_view name : {"read_host_tmp", "write_outside", "tcp_loopback", "io_uring", "kill_outside",
                                      "jails_by_tmp", "write_host_shm"}) {
    const attack::Finding finding = stage.perform(*attack::find_case(name), JailKind::kNone);
    EXPECT_EQ(finding.control.got, Got::kThrough) << name << ": " << finding.control.why;
    EXPECT_EQ(finding.jailed.got, Got::kThrough) << name << ": " << finding.jailed.why;
  }
}

}  // namespace
}  // namespace sallyport::conformance
