// Going over a limit. All of it is bounded here too: without a jail nothing else stops it.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>

#include "attack/program/attack.h"

namespace sallyport::attacks {
namespace {

constexpr int kTasks = 100;  // the limit is 64
constexpr int kTooManyTasks = 70;
constexpr std::size_t kMebibyte = 1U << 20U;
constexpr std::size_t kMemory = 128 * kMebibyte;  // the limit is 64 MiB
constexpr std::size_t kDisk = 32 * kMebibyte;     // the quota is 8 MiB
constexpr std::size_t kOutput = 2 * kMebibyte;    // the cap is 64 KiB
constexpr double kSeconds = 2.5;                  // the limit is 1 s, and one more for a tool that ignores SIGXCPU
constexpr double kChildSeconds = 0.8;

void fork_bomb() {
  std::array<pid_t, kTasks> children{};
  int started = 0;
  for (pid_t& child : children) {
    child = fork();
    if (child == 0) {
      sleep(2);
      _exit(0);
    }
    if (child > 0) ++started;
  }
  if (started > kTooManyTasks) broken();
  for (const pid_t child : children) {
    if (child > 0) kill(child, SIGKILL);
  }
  while (wait(nullptr) > 0) {
  }
}

void* rest(void*) {
  sleep(2);
  return nullptr;
}

void thread_bomb() {
  int started = 0;
  for (int i = 0; i < kTasks; ++i) {
    pthread_t thread{};
    if (pthread_create(&thread, nullptr, rest, nullptr) == 0) ++started;
  }
  if (started > kTooManyTasks) broken();
  _exit(0);
}

bool touch_memory(std::size_t size, int flags, int fd) {
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (memory == MAP_FAILED) return false;
  memset(memory, 1, size);
  return true;
}

void memory_anon() {
  if (touch_memory(kMemory, MAP_PRIVATE | MAP_ANONYMOUS, -1)) broken();
}

std::size_t fill(int fd, std::size_t size) {
  const std::string chunk(kMebibyte, 'x');
  std::size_t total = 0;
  while (total < size) {
    const ssize_t written = write(fd, chunk.data(), chunk.size());
    if (written <= 0) break;
    total += static_cast<std::size_t>(written);
  }
  return total;
}

void memory_memfd() {
  const int fd = memfd_create("attack", 0);
  if (fd >= 0 && fill(fd, kMemory) >= kMemory) broken();
}

enum class Keep { kWhileOpen, kUntilDone };

void fill_file(const char* directory, std::size_t size, Keep keep) {
  const std::string path = std::string(directory) + "/sallyport-filler-" + arg("marker");
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return;
  if (keep == Keep::kWhileOpen) unlink(path.c_str());
  const std::size_t written = fill(fd, size);
  // Hold it in full for a moment: a supervisor that measures from time to time must have a chance to see it.
  usleep(300'000);
  unlink(path.c_str());
  if (written >= size) broken();
}

// Empty, so they have no size; but the kernel keeps a record of each.
void many_files() {
  constexpr int kFiles = 10'000;  // the quota is one for each of 8192 KiB
  const std::string directory = "/tmp/sallyport-filler-" + arg("marker");
  if (mkdir(directory.c_str(), 0700) != 0) return;
  const auto name = [&](int number) { return directory + "/" + std::to_string(number); };
  int made = 0;
  while (made < kFiles && mknod(name(made).c_str(), S_IFREG | 0600, 0) == 0) ++made;
  usleep(300'000);
  for (int number = 0; number < made; ++number) unlink(name(number).c_str());
  rmdir(directory.c_str());
  if (made == kFiles) broken();
}

void memory_children() {
  constexpr int kChildren = 4;
  for (int i = 0; i < kChildren; ++i) {
    if (fork() == 0) {
      const bool had = touch_memory(kMemory / kChildren, MAP_PRIVATE | MAP_ANONYMOUS, -1);
      sleep(1);
      _exit(had ? 0 : 1);
    }
  }
  int whole = 0;
  int status = 0;
  while (wait(&status) > 0) whole += status == 0 ? 1 : 0;
  if (whole == kChildren) broken();
}

void burn(double seconds) {
  while (static_cast<double>(clock()) / CLOCKS_PER_SEC < seconds) {
  }
}

void cpu_burn() {
  signal(SIGXCPU, SIG_IGN);
  burn(kSeconds);
  broken();
}

// Each stays below the limit; together they do not.
void cpu_children() {
  constexpr int kChildren = 3;
  for (int i = 0; i < kChildren; ++i) {
    if (fork() == 0) {
      burn(kChildSeconds);
      _exit(0);
    }
  }
  int whole = 0;
  int status = 0;
  while (wait(&status) > 0) whole += status == 0 ? 1 : 0;
  if (whole == kChildren) broken();
}

void flood(int fd, char character) {
  const std::string chunk(65536, character);
  for (std::size_t total = 0; total < kOutput; total += chunk.size()) {
    if (write(fd, chunk.data(), chunk.size()) <= 0) return;
  }
}

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"fork_bomb", fork_bomb},
    Entry{"thread_bomb", thread_bomb},
    Entry{"memory_anon", memory_anon},
    Entry{"memory_tmpfs", [] { fill_file("/dev/shm", kMemory, Keep::kUntilDone); }},
    Entry{"memory_memfd", memory_memfd},
    Entry{"memory_children", memory_children},
    Entry{"disk_tmp", [] { fill_file("/tmp", kDisk, Keep::kUntilDone); }},
    Entry{"disk_shm", [] { fill_file("/dev/shm", kDisk, Keep::kUntilDone); }},
    Entry{"disk_var_tmp", [] { fill_file("/var/tmp", kDisk, Keep::kUntilDone); }},
    Entry{"disk_unlinked", [] { fill_file("/tmp", kDisk, Keep::kWhileOpen); }},
    Entry{"disk_files", many_files},
    Entry{"cpu_burn", cpu_burn},
    Entry{"cpu_children", cpu_children},
    Entry{"output_flood", [] { flood(STDOUT_FILENO, '\n'); }},
    Entry{"output_one_line", [] { flood(STDERR_FILENO, 'x'); }},
});

}  // namespace

std::span<const Entry> limit_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
