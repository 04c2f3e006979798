#include "audit/append_log.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "audit/test_log.h"
#include "support/forked.h"

namespace sallyport::audit {
namespace {

namespace fs = std::filesystem;

TEST_F(LogTest, C33_records_follow_each_other_in_one_chain_over_several_files) {
  fill(50, ByteCount{2000});
  const Verification found = verify();
  EXPECT_FALSE(found.problem) << why(found);
  EXPECT_EQ(found.records, 50U);
  EXPECT_GT(found.files, 3U);
  // Another process continues where the last one stopped.
  ASSERT_EQ(open(ByteCount{2000})->append(test_members(51)), 51U);
  EXPECT_EQ(verify().records, 51U);
}

TEST_F(LogTest, C33_is_its_owners_alone) {
  fill(3, ByteCount{200});
  for (const auto& entry : fs::recursive_directory_iterator(place())) {
    struct stat info{};
    ASSERT_EQ(::stat(entry.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 077U, 0U) << entry.path();
  }
  struct stat info{};
  ASSERT_EQ(::stat(place().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
  ASSERT_EQ(::chmod(place().c_str(), 0750), 0);
  const auto refused = AppendLog::open(place(), mebibytes(1));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().as<AuditFailed>(), nullptr);
  EXPECT_NE(refused.error().hint.find("chmod 700"), std::string::npos);
  ASSERT_EQ(::chmod(place().c_str(), 0700), 0);
  EXPECT_TRUE(AppendLog::open(place(), mebibytes(1)));  // the control
}

TEST_F(LogTest, C33_of_somebody_else_is_refused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  fill(1);
  ASSERT_EQ(::chown(place().c_str(), 65534, 65534), 0);
  const auto refused = AppendLog::open(place(), mebibytes(1));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("owned by uid 65534"), std::string::npos) << refused.error().message;
}

TEST_F(LogTest, C33_a_torn_tail_is_set_aside_and_named_and_the_chain_goes_on) {
  fill(5);
  const std::string torn = R"({"schema":"sallyport.audit/1","seq":6,"prev":")";
  write(first_file(), read(first_file()) + torn);
  const Verification before = verify();
  EXPECT_FALSE(before.problem) << why(before);
  EXPECT_EQ(before.torn_bytes, torn.size());
  ASSERT_EQ(open()->append(test_members(6)), 7U);  // record 6 names what was set aside
  const Verification after = verify();
  EXPECT_FALSE(after.problem) << why(after);
  EXPECT_EQ(after.recoveries, 1U);
  EXPECT_EQ(after.torn_bytes, 0U);
  const std::string log = read(first_file());
  const std::size_t name = log.find("torn-");
  ASSERT_NE(name, std::string::npos);
  EXPECT_EQ(read(place() / log.substr(name, log.find('"', name) - name)), torn);
}

TEST_F(LogTest, C33_a_whole_record_of_a_writer_that_died_is_taken_over) {
  fill(5);
  const std::string head = read(place() / "head");
  fill(0);
  ASSERT_TRUE(open()->append(test_members(6)));
  write(place() / "head", head);  // as if it had died between the two writes
  ASSERT_EQ(open()->append(test_members(7)), 7U);
  EXPECT_FALSE(verify().problem) << why(verify());
}

TEST_F(LogTest, C33_that_lost_records_or_its_head_takes_no_new_ones) {
  fill(5);
  const std::string log = read(first_file());
  write(first_file(), log.substr(0, log.rfind('\n', log.size() - 2) + 1));
  const auto cut = AppendLog::open(place(), mebibytes(1));
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().as<AuditFailed>(), nullptr);
  write(first_file(), log);
  ASSERT_TRUE(AppendLog::open(place(), mebibytes(1)));  // the control
  fs::remove(place() / "head");
  EXPECT_FALSE(AppendLog::open(place(), mebibytes(1)));
}

TEST_F(LogTest, C33_takes_records_of_many_threads_at_once) {
  const std::unique_ptr<AppendLog> log = open(ByteCount{20'000});
  constexpr int kThreads = 8;
  constexpr int kEach = 60;
  std::atomic<int> failed = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kEach; ++i) {
          const Result<std::uint64_t> seq = log->append(test_members(static_cast<std::uint64_t>(t * 1000 + i)));
          if (!seq || !log->sync(*seq)) ++failed;
        }
      });
    }
  }
  EXPECT_EQ(failed, 0);
  const Verification found = verify();
  EXPECT_FALSE(found.problem) << why(found);
  EXPECT_EQ(found.records, static_cast<std::uint64_t>(kThreads * kEach));
}

TEST_F(LogTest, C33_takes_records_of_many_processes_at_once) {
  constexpr int kProcesses = 4;
  constexpr int kEach = 60;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    children.push_back(test::fork_child([&, p] {
      const auto log = AppendLog::open(place(), ByteCount{20'000});
      if (!log) return 1;
      for (int i = 0; i < kEach; ++i) {
        const Result<std::uint64_t> seq = (*log)->append(test_members(static_cast<std::uint64_t>(p * 1000 + i)));
        if (!seq || !(*log)->sync(*seq)) return 1;
      }
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(test::wait_for(child), 0);
  const Verification found = verify();
  EXPECT_FALSE(found.problem) << why(found);
  EXPECT_EQ(found.records, static_cast<std::uint64_t>(kProcesses * kEach));
}

TEST_F(LogTest, C33_a_full_file_system_takes_no_half_records) {
  // RLIMIT_FSIZE is a disk that is full at a chosen byte.
  const int status = test::wait_for(test::fork_child([&] {
    const auto log = AppendLog::open(place(), mebibytes(64));
    if (!log || !(*log)->append(test_members(1))) return 1;
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = fs::file_size(first_file()) + 100, .rlim_max = RLIM_INFINITY};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    const Result<std::uint64_t> full = (*log)->append(test_members(2));
    if (full || full.error().as<AuditFailed>() == nullptr) return 3;
    const rlimit room{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    if (::setrlimit(RLIMIT_FSIZE, &room) != 0) return 2;
    const Result<std::uint64_t> again = (*log)->append(test_members(3));
    return again && *again == 2U ? 0 : 4;
  }));
  EXPECT_EQ(status, 0);
  const Verification found = verify();
  EXPECT_FALSE(found.problem) << why(found);
  EXPECT_EQ(found.records, 2U);
}

}  // namespace
}  // namespace sallyport::audit
