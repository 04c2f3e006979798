#include "egress/egress_fixture.h"

#include <unistd.h>

#include "support/installed.h"

namespace sallyport::test {

namespace fs = std::filesystem;

std::string name_of(const Where& where) {
  return std::string(where.jail.name()) + (where.who == Who::kRoot ? "_root" : "_user");
}

std::vector<Where> everywhere() {
  std::vector<Where> places;
  for (const JailKind jail : {JailKind::kNative, JailKind::kBwrap, JailKind::kLandlock}) {
    if (geteuid() == 0) places.push_back({jail, Who::kRoot});
    places.push_back({jail, Who::kUser});
  }
  return places;
}

Site::Site(Who who) : user_(who == Who::kUser ? as_plain_user() : std::nullopt), dir_(user_), repo_(dir_ / "repo") {
  for (const char* name : {"repo", "home"}) {
    fs::create_directory(dir_ / name);
    give_to(dir_ / name, user_);
  }
  write_file(dir_ / "policy.toml", policy_admitting({"curl", "git", "node", "npm", "python3", "busybox", "java"}));
  program_ = sallyport_binary();
  if (!user_) return;
  // The build tree may lie where only its owner can go.
  fs::copy_file(program_, dir_ / "sallyport");
  fs::permissions(dir_ / "sallyport", fs::perms(0755));
  program_ = dir_ / "sallyport";
}

void Site::put(const std::string& name, std::string_view content) const {
  write_file(repo_ / name, content);
  give_to(repo_ / name, user_);
}

Program Site::start(JailKind jail, const Words& options, const Words& tool, bool json) const {
  Words argv = {program_, "run", "--jail", std::string(jail.name()), "--policy", dir_ / "policy.toml", "--repo", repo_};
  if (json) argv.emplace_back("--json");
  argv.insert(argv.end(), options.begin(), options.end());
  argv.emplace_back("--");
  argv.insert(argv.end(), tool.begin(), tool.end());
  return Program::start(
      argv,
      {.cwd = repo_,
       .environment = Environment{{"PATH", "/usr/bin:/bin"}, {"HOME", (dir_ / "home").string()}, {"LANG", "C.UTF-8"}},
       .stdin_bytes = {},
       .user = user_});
}

nlohmann::json Site::run(JailKind jail, const Words& options, const Words& tool) const {
  const ProgramResult result = start(jail, options, tool).wait();
  nlohmann::json record = nlohmann::json::parse(result.stdout_bytes, nullptr, false);
  EXPECT_TRUE(record.is_object() && record.contains("outcome")) << result.stdout_bytes << result.stderr_bytes;
  return record.is_object() && record.contains("outcome") ? record : nlohmann::json{{"outcome", "none"}};
}

void expect_reached(const nlohmann::json& record, std::string_view expected) {
  EXPECT_EQ(record["outcome"], "completed") << record;
  EXPECT_EQ(record.value("exit_code", -1), 0) << record;
  EXPECT_NE(record.value("stdout", "").find(expected), std::string::npos) << record;
  EXPECT_TRUE(record.value("denials", nlohmann::json::array()).empty()) << record;
}

void expect_denied(const nlohmann::json& record, std::string_view host, std::string_view reason) {
  ASSERT_EQ(record["outcome"], "network_denied") << record;
  EXPECT_EQ(record["evidence"]["host"], host) << record;
  const nlohmann::json& denial = record["denials"][0];
  EXPECT_EQ(denial["host"], host) << record;
  EXPECT_EQ(denial["reason"], reason) << record;
  const bool never = reason == "metadata address";
  EXPECT_EQ(denial.value("hint", "").starts_with("--allow-host "), !never) << record;
}

}  // namespace sallyport::test
