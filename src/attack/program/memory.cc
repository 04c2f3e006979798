// Memory that the kernel keeps for a process without it being the process's own: buffers of pipes, queues, records; for
// those of sockets see memory_sockets.cc. Each deed tries to hold four times the limit of 64 MiB, and holds it all at once.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "attack/program/attack.h"
#include "attack/program/memory.h"

namespace sallyport::attacks {
namespace {

void memory_pipes() {
  more_descriptors();
  std::size_t held = 0;
  const std::string chunk(kMebibyte, 'x');
  for (int made = 0; made < kMostSockets * 4 && held < kTooMuch; ++made) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC) != 0) break;
    fcntl(ends[1], F_SETPIPE_SZ, static_cast<int>(kMebibyte));
    ssize_t written = 0;
    while ((written = write(ends[1], chunk.data(), chunk.size())) > 0) held += static_cast<std::size_t>(written);
  }
  if (held >= kTooMuch) broken();
}

// One page of page tables for each 2 MiB that is read once.
void memory_page_tables() {
  constexpr std::size_t kStep = 2 * kMebibyte;
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kRegion = kTooMuch / kPage * kStep;
  auto* const memory = static_cast<volatile char*>(
      mmap(nullptr, kRegion, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (memory == MAP_FAILED) return;
  madvise(const_cast<char*>(memory), kRegion, MADV_NOHUGEPAGE);
  for (std::size_t at = 0; at < kRegion; at += kStep) static_cast<void>(memory[at]);
  broken();
}

void memory_message_queues() {
  struct {
    long type = 1;
    char text[8192] = {};
  } message;
  std::vector<int> queues;
  std::size_t held = 0;
  for (int made = 0; made < 32'000 && held < kTooMuch; ++made) {
    const int queue = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
    if (queue < 0) break;
    queues.push_back(queue);
    while (msgsnd(queue, &message, sizeof message.text, IPC_NOWAIT) == 0) held += sizeof message.text;
  }
  if (held >= kTooMuch) broken();
  for (const int queue : queues) msgctl(queue, IPC_RMID, nullptr);
}

// Every epoll instance keeps a record of each descriptor it watches.
void memory_epoll() {
  more_descriptors();
  constexpr std::size_t kRecord = 192;  // struct epitem and its wait queue entry
  std::vector<int> events;
  for (int i = 0; i < kMostSockets; ++i) events.push_back(eventfd(0, EFD_CLOEXEC));
  std::size_t held = 0;
  for (int made = 0; made < 2000 && held < kTooMuch; ++made) {
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) break;
    for (const int fd : events) {
      epoll_event event{.events = EPOLLIN, .data = {}};
      if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) break;
      held += kRecord;
    }
  }
  if (held >= kTooMuch) broken();
}

// Events that nobody reads, each with a long name.
void memory_inotify() {
  const std::string directory = "/tmp/sallyport-inotify-" + arg("marker");
  if (mkdir(directory.c_str(), 0700) != 0) return;
  std::vector<int> watchers;
  for (int i = 0; i < 100; ++i) {
    const int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd < 0 || inotify_add_watch(fd, directory.c_str(), IN_CREATE | IN_DELETE) < 0) break;
    watchers.push_back(fd);
  }
  constexpr std::size_t kEvent = 320;  // the name's 240 bytes and the record
  const std::array names{directory + "/" + std::string(240, 'a'), directory + "/" + std::string(240, 'b')};
  std::size_t held = 0;
  for (int i = 0; i < 8000 && held < kTooMuch; ++i) {
    const std::string& name = names[static_cast<std::size_t>(i) % names.size()];
    if (mknod(name.c_str(), S_IFREG | 0600, 0) != 0) break;
    unlink(name.c_str());
    held += 2 * kEvent * watchers.size();
  }
  for (const std::string& name : names) unlink(name.c_str());
  rmdir(directory.c_str());
  if (held >= kTooMuch) broken();
}

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"memory_pipes", memory_pipes},
    Entry{"memory_page_tables", memory_page_tables},
    Entry{"memory_message_queues", memory_message_queues},
    Entry{"memory_epoll", memory_epoll},
    Entry{"memory_inotify", memory_inotify},
});

}  // namespace

std::span<const Entry> memory_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
