#include "core/bytes/git_object.h"

#include <gtest/gtest.h>

#include <string>

namespace sallyport {
namespace {

// git made both, from one commit without files.
constexpr std::string_view kSha1 = "959b3bad57682034fefafadba5f47fd517c58813";
constexpr std::string_view kSha1Tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
constexpr std::string_view kSha256 = "c2e350ab949e6a345d421d68c4f3d6583afe0672a96620708412e31d98643fa0";
constexpr std::string_view kSha256Tree = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";

std::string commit_with(std::string_view tree) {
  return "tree " + std::string(tree) +
         "\nauthor t <t@example.org> 1767225600 +0000\ncommitter t <t@example.org> 1767225600 +0000\n\none\n";
}

TEST(TreeOfCommit, IsWhatTheCommitOfThatIdNames) {
  EXPECT_EQ(tree_of_commit(kSha1, commit_with(kSha1Tree)), kSha1Tree);
  EXPECT_EQ(tree_of_commit(kSha256, commit_with(kSha256Tree)), kSha256Tree);
}

TEST(TreeOfCommit, OfAnotherCommitIsNotBelieved) {
  std::string other(kSha1Tree);
  other.back() = '5';
  EXPECT_EQ(tree_of_commit(kSha1, commit_with(other)), std::nullopt);
  EXPECT_EQ(tree_of_commit(kSha256, commit_with(kSha1Tree)), std::nullopt);
  EXPECT_EQ(tree_of_commit(kSha1, ""), std::nullopt);
  EXPECT_EQ(tree_of_commit("", commit_with(kSha1Tree)), std::nullopt);
}

}  // namespace
}  // namespace sallyport
