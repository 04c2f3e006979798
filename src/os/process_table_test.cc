#include "os/process_table.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "support/forked.h"

namespace sallyport {
namespace {

TEST(ProcessTable, ParsesACommFullOfParentheses) {
  const auto entry = parse_proc_stat("42 (a) R 1 (b) S 7 8 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 12345 0\n");
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->comm, "a) R 1 (b");
  EXPECT_EQ(entry->state, 'S');
  EXPECT_EQ(entry->parent, 7);
  EXPECT_EQ(entry->group, 8);
  EXPECT_EQ(entry->session, 9);
  EXPECT_EQ(entry->start_ticks, 12345U);
  for (const char* bad : {"", "42", "42 (x)", "(x) S 1", "42 (x) S a b", "42 )x( S 1 2 3"})
    EXPECT_FALSE(parse_proc_stat(bad));
}

TEST(ProcessTable, FindsAChildAndItsZombie) {
  const pid_t child = test::fork_child([] { return 0; });
  ASSERT_GT(child, 0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  const auto all = list_processes().value();
  const auto entry = std::ranges::find(all, child, &ProcessEntry::pid);
  ASSERT_NE(entry, all.end());
  EXPECT_EQ(entry->state, 'Z');
  EXPECT_EQ(entry->parent, ::getpid());
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const auto after = list_processes().value();
  EXPECT_EQ(std::ranges::find(after, child, &ProcessEntry::pid), after.end());
}

}  // namespace
}  // namespace sallyport
