#include "core/view/view_guarantees.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sallyport {
namespace {

HostLayout small_host() {
  HostLayout host;
  host.system_directories = {"/usr", "/opt"};
  return host;
}

struct Wish {
  const char* path;
  RepoAccess access;
  std::vector<Guarantee> lost;
};

std::vector<Guarantee> names(const std::vector<LostGuarantee>& lost) {
  std::vector<Guarantee> found;
  for (const LostGuarantee& one : lost) found.push_back(one.guarantee);
  std::ranges::sort(found);
  return found;
}

std::vector<LostGuarantee> lost_with(const ViewInputs& inputs, std::string_view home = "/home/me") {
  const Result<std::vector<ViewEntry>> view = file_system_view(inputs, HostRoot(small_host()));
  EXPECT_TRUE(view) << view.error().message;
  return view ? guarantees_lost(*view, home) : std::vector<LostGuarantee>();
}

constexpr RepoAccess kRo = RepoAccess::kReadOnly;
constexpr RepoAccess kRw = RepoAccess::kWritable;
using enum Guarantee;

const Wish kWishes[] = {
    {"/srv/data", kRo, {}},
    {"/srv/data", kRw, {}},
    {"/var/lib/data", kRw, {}},
    {"/home/me/src", kRw, {}},
    {"/usr/local/x", kRo, {}},
    {"/usr/local/x", kRw, {kFsReadonlySystem}},
    {"/opt/app", kRw, {kFsReadonlySystem}},
    {"/etc/ssl/certs", kRo, {}},
    {"/etc/ssl/certs", kRw, {kFsReadonlySystem}},
    {"/boot/x", kRw, {kFsReadonlySystem}},
    {"/lib/modules", kRw, {kFsReadonlySystem}},
    {"/nix", kRw, {kFsReadonlySystem}},
    {"/usrlocal", kRw, {}},
    {"/tmp/x", kRo, {}},
    {"/tmp/x", kRw, {kFsPrivateTmp}},
    {"/var/tmp/x", kRo, {}},
    {"/var/tmp/x", kRw, {kFsPrivateTmp}},
    {"/var/tmp", kRo, {kFsPrivateTmp}},
    {"/var/tmp", kRw, {kFsPrivateTmp}},
    {"/var", kRo, {kFsPrivateTmp}},
    {"/home", kRo, {kFsHomeHidden}},
    {"/home/me", kRo, {kFsHomeHidden}},
    {"/root", kRw, {kFsHomeHidden}},
    {"/run", kRo, {kFsHomeHidden}},
    {"/run/x", kRo, {}},
};

TEST(LostGuarantees, FollowFromEachExtraPath) {
  for (const Wish& wish : kWishes) {
    ViewInputs inputs{.repo = "/srv/repo"};
    (wish.access == kRw ? inputs.read_write : inputs.read_only) = {{wish.path, true}};
    EXPECT_EQ(names(lost_with(inputs)), wish.lost) << wish.path << (wish.access == kRw ? " writable" : " read-only");
  }
}

TEST(LostGuarantees, FollowFromTheRepoToo) {
  EXPECT_TRUE(lost_with({.repo = "/srv/repo", .repo_access = kRw}).empty());
  EXPECT_TRUE(lost_with({.repo = "/tmp/repo"}).empty());
  EXPECT_TRUE(lost_with({.repo = "/usr/src/repo"}).empty());
  EXPECT_EQ(names(lost_with({.repo = "/tmp/repo", .repo_access = kRw})), std::vector{kFsPrivateTmp});
  EXPECT_EQ(names(lost_with({.repo = "/usr/src/repo", .repo_access = kRw})), std::vector{kFsReadonlySystem});
  EXPECT_EQ(names(lost_with({.repo = "/home"})), std::vector{kFsHomeHidden});
}

TEST(LostGuarantees, FollowFromTheToolsOwnFiles) {
  ViewInputs inputs{.repo = "/srv/repo"};
  inputs.tool_files = {{"/srv/me/bin", true}};
  EXPECT_TRUE(lost_with(inputs).empty());
  EXPECT_EQ(names(lost_with(inputs, "/srv/me/bin")), std::vector{kFsHomeHidden});
}

TEST(LostGuarantees, FollowFromAHomeInsideTheSystem) {
  EXPECT_EQ(names(lost_with({.repo = "/srv/repo"}, "/opt/service")), std::vector{kFsHomeHidden});
  EXPECT_TRUE(lost_with({.repo = "/srv/repo"}, "").empty());
  EXPECT_TRUE(lost_with({.repo = "/srv/repo"}, "/no/such/home").empty());
}

TEST(LostGuarantees, NameThePathAndTheReasonOnceForEachGuarantee) {
  ViewInputs inputs{.repo = "/srv/repo"};
  inputs.read_write = {{"/usr/local/a", true}, {"/usr/local/b", true}};
  const std::vector<LostGuarantee> lost = lost_with(inputs);
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].path, "/usr/local/a");
  EXPECT_EQ(lost[0].why, "it makes a part of the system writable");
}

}  // namespace
}  // namespace sallyport
