#include "conformance/surroundings.h"

#include <unistd.h>

#include <sstream>

#include "support/forked.h"
#include "support/installed.h"

namespace sallyport::conformance {
namespace {

namespace fs = std::filesystem;

void copy_program(const fs::path& from, const fs::path& to) {
  fs::copy_file(from, to);
  fs::permissions(to, fs::perms(0755));
}

}  // namespace

fs::path attack_program() { return SALLYPORT_TEST_ATTACK; }

GateConfig config_admitting(const fs::path& repo, const std::vector<std::string_view>& tools,
                            std::vector<fs::path> places) {
  return {.repo = repo,
          .allowlist = Allowlist::from_policy(test::policy_admitting(tools), "test policy").value(),
          .search_path = std::move(places),
          .base_env = {{"PATH", "/usr/bin:/bin"}, {"HOME", "/root"}}};
}

Stage::Stage(Who who) : user_(who == Who::kUser ? test::as_plain_user() : std::nullopt), programs_(user_) {
  copy_program(attack_program(), programs_ / attack::kProgramName);
  home_ = geteuid() == 0 ? fs::path("/home/sallyport-test-" + std::to_string(getpid())) : fs::path(getenv("HOME"));
  if (geteuid() != 0) return;
  fs::create_directory(home_);
  test::give_to(home_, user_);
}

Stage::~Stage() {
  std::error_code ignored;
  if (geteuid() == 0) fs::remove_all(home_, ignored);
}

attack::Surroundings Stage::surroundings() const {
  return {.program = programs_ / attack::kProgramName,
          .supervisor = test::sallyport_binary(),
          .home = home_,
          .search_path = {"/usr/bin", "/bin"}};
}

std::vector<attack::Finding> Stage::perform(const attack::Case& one, std::span<const JailKind> jails) const {
  attack::Surroundings around = surroundings();
  if (user_ && has(one.props, attack::Prop::kOwnerDies)) {
    copy_program(around.supervisor, programs_ / "sallyport");
    around.supervisor = programs_ / "sallyport";
  }
  if (!user_) return attack::perform(one, around, jails);
  const fs::path answer = programs_ / "answer";
  test::wait_for(test::fork_child([&] {
    test::drop_to(*user_);
    std::ostringstream text;
    for (const attack::Finding& finding : attack::perform(one, around, jails)) {
      text << static_cast<int>(finding.control.got) << ' ' << static_cast<int>(finding.jailed.got) << '\n'
           << finding.control.why << '\n'
           << finding.jailed.why << '\n';
    }
    test::write_file(answer, text.str());
    return 0;
  }));
  std::vector<attack::Finding> findings;
  std::istringstream text(test::read_file(answer));
  for (std::size_t i = 0; i < jails.size(); ++i) {
    attack::Finding finding{.attack = &one};
    int control = static_cast<int>(attack::Got::kNotTried);
    int jailed = control;
    text >> control >> jailed;
    text.ignore();
    std::getline(text, finding.control.why);
    std::getline(text, finding.jailed.why);
    finding.control.got = static_cast<attack::Got>(control);
    finding.jailed.got = static_cast<attack::Got>(jailed);
    findings.push_back(std::move(finding));
  }
  return findings;
}

attack::Finding Stage::perform(const attack::Case& one, JailKind jail) const {
  return perform(one, std::span(&jail, 1)).front();
}

}  // namespace sallyport::conformance
