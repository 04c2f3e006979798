// Which jails that were built ahead fit a run, and the words for each step.
#include "spawn/wire/launch_spec.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace sallyport::spawn {
namespace {

const RootOp kUsr{.kind = wire::OpKind::kBind, .target = "usr", .source = "/usr"};
const RootOp kTmp{.kind = wire::OpKind::kTmpfs, .target = "tmp"};
const RootOp kRepo{.kind = wire::OpKind::kBind,
                   .target = "work",
                   .source = "/repo",
                   .identity = FileIdentity{.device = 1, .inode = 2}};

LaunchSpec spec_of(std::vector<RootOp> ops) {
  LaunchSpec spec;
  spec.argv = {"echo"};
  spec.place = JailPlace{.root_ops = std::move(ops), .landlock_writable = {"/tmp"}, .seccomp = "12345678"};
  return spec;
}

JailShape whole() {
  return {.root_ops = {kUsr, kTmp, kRepo}, .landlock_writable = {"/tmp"}, .seccomp = "12345678", .whole = true};
}

TEST(JailShape, ThatIsABaseFitsEveryRunThatStartsWithIt) {
  const JailShape base{.root_ops = {kUsr, kTmp}};
  EXPECT_TRUE(base.fits(spec_of({kUsr, kTmp})));
  EXPECT_TRUE(base.fits(spec_of({kUsr, kTmp, kRepo})));
  EXPECT_FALSE(base.fits(spec_of({kUsr}))) << "it has more than the run wants";
  EXPECT_FALSE(base.fits(spec_of({kTmp, kUsr, kRepo}))) << "another order";
  EXPECT_FALSE(base.fits(spec_of({})));
}

TEST(JailShape, WithANetworkFitsNoRunThatWantsNone) {
  const JailShape base{.network = {.sockets = {{.type = 1, .port = 53}}}};
  LaunchSpec spec = spec_of({kUsr});
  EXPECT_FALSE(base.fits(spec)) << "the run would get the jail's";
  spec.network.sockets = {{.type = 1, .port = 80}};
  EXPECT_TRUE(base.fits(spec)) << "another one is made for it";
}

TEST(JailShape, FitsNoRunWithoutAJailOfOurs) {
  LaunchSpec without;
  without.place = NoJailPlace{};
  EXPECT_FALSE(JailShape{}.fits(without));
  LaunchSpec wrapped = spec_of({});
  std::get<JailPlace>(wrapped.place).wrapped = true;
  EXPECT_FALSE(JailShape{}.fits(wrapped));
  EXPECT_TRUE(JailShape{}.fits(spec_of({}))) << "the control";
}

TEST(JailShape, ThatIsWholeFitsExactlyTheSameJail) {
  const LaunchSpec same = spec_of({kUsr, kTmp, kRepo});
  ASSERT_TRUE(whole().fits(same));
  LaunchSpec other_tool = same;
  other_tool.argv = {"git", "log"};
  other_tool.env = {"A=1"};
  std::get<JailPlace>(other_tool.place).cwd = "/work/sub";
  EXPECT_TRUE(whole().fits(other_tool)) << "the tool is no part of the shape";
}

TEST(JailShape, ThatIsWholeFitsNothingThatDiffersInOnePoint) {
  const std::function<void(LaunchSpec&)> differences[] = {
      [](LaunchSpec& spec) { std::get<JailPlace>(spec.place).root_ops.pop_back(); },
      [](LaunchSpec& spec) { std::get<JailPlace>(spec.place).root_ops.back().identity->inode = 3; },
      [](LaunchSpec& spec) { std::get<JailPlace>(spec.place).root_ops.back().flags = wire::kOpReadOnly; },
      [](LaunchSpec& spec) { std::get<JailPlace>(spec.place).landlock_writable.emplace_back("/work"); },
      [](LaunchSpec& spec) { std::get<JailPlace>(spec.place).seccomp = "87654321"; },
      [](LaunchSpec& spec) { std::get<JailPlace>(spec.place).allow_speculation = true; },
      [](LaunchSpec& spec) { spec.network.sockets.push_back({.type = 1, .port = 53}); },
      [](LaunchSpec& spec) { spec.cgroup_procs_fds = {7}; },
  };
  for (std::size_t i = 0; i < std::size(differences); ++i) {
    LaunchSpec spec = spec_of({kUsr, kTmp, kRepo});
    differences[i](spec);
    EXPECT_FALSE(whole().fits(spec)) << i;
  }
}

TEST(StageName, IsThereForEachStageAndItsOwn) {
  std::set<std::string_view> names;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(wire::Stage::kCount); ++i) {
    const std::string_view name = stage_name(static_cast<wire::Stage>(i));
    EXPECT_FALSE(name.empty()) << i;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(stage_name(wire::Stage::kExec), "exec") << "the last one, so none is left out before";
  EXPECT_EQ(stage_name(wire::Stage::kCount), "unknown step");
}

TEST(Describe, HasALineForEachKindOfStep) {
  std::set<std::string> lines;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(wire::OpKind::kCount); ++i) {
    const std::string line = describe({.kind = static_cast<wire::OpKind>(i), .target = "here", .source = "here"});
    EXPECT_NE(line.find("here"), std::string::npos) << i << ": " << line;
    EXPECT_TRUE(lines.insert(line).second) << "as another step: " << line;
  }
}

}  // namespace
}  // namespace sallyport::spawn
