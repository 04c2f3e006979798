#include "os/tree_memory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <vector>

#include "os/test_processes.h"
#include "sallyport/unique_fd.h"
#include "support/forked.h"

namespace sallyport {
namespace {

constexpr std::size_t kMapped = std::size_t{64} << 20U;
// A sanitizer keeps memory of its own for each page, several times as much, in the same processes.
#ifdef SALLYPORT_SANITIZED
constexpr bool kIsExact = false;
#else
constexpr bool kIsExact = true;
#endif

void hold(int flags) {
  void* const memory = ::mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) std::memset(memory, 1, kMapped);
}

// A child that holds memory, and its own child, which holds more memory, or shares the same.
class Family {
 public:
  Family(int parents, int childs) {
    std::array<int, 2> ready{};
    EXPECT_EQ(::pipe(ready.data()), 0);
    pid_ = test::fork_child([&]() -> int {
      hold(parents);
      static_cast<void>(test::fork_child([&]() -> int {
        if (childs != 0) hold(childs);
        static_cast<void>(!::write(ready[1], "!", 1));
        while (true) ::pause();
      }));
      while (true) ::pause();
    });
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~Family() {
    for (const pid_t pid : children()) ::kill(pid, SIGKILL);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  [[nodiscard]] std::vector<pid_t> children() const { return children_of(pid_); }
  pid_t pid_ = -1;
};

TEST(TreeMemory, OfAChildIsCountedToo) {
  const Family family(MAP_PRIVATE, MAP_PRIVATE);
  EXPECT_GE(most_memory_below(family.pid()), 2 * kMapped);
  const std::optional<std::uint64_t> exact = memory_below(family.pid());
  ASSERT_TRUE(exact);
  EXPECT_GE(*exact, 2 * kMapped - (std::size_t{1} << 20U));
  if (kIsExact) {
    EXPECT_LE(*exact, 3 * kMapped);
  }
}

TEST(TreeMemory, ThatIsSharedIsCountedOnce) {
  for (const int flags : {MAP_PRIVATE, MAP_SHARED}) {
    const Family family(flags, 0);  // the child has its parent's pages
    EXPECT_GE(most_memory_below(family.pid()), kMapped);
    const std::optional<std::uint64_t> exact = memory_below(family.pid());
    ASSERT_TRUE(exact);
    if (kIsExact) {
      EXPECT_LE(*exact, kMapped + kMapped / 2) << flags;
    }
  }
}

TEST(TreeMemory, OfNobodyIsNone) {
  const pid_t pid = test::fork_child([] { return 0; });
  ::waitpid(pid, nullptr, 0);
  EXPECT_EQ(most_memory_below(pid), 0U);
  EXPECT_EQ(memory_below(pid), 0U);
}

TEST(TreeMemory, APidfdHasItsProcesssNumber) {
  const UniqueFd self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  ASSERT_TRUE(self);
  EXPECT_EQ(pid_of(self.get()), ::getpid());
  EXPECT_FALSE(pid_of(0).has_value());
}

}  // namespace
}  // namespace sallyport
