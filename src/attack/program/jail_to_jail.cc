// Two runs that should know nothing of each other. `partner` has the secret and offers it in every way at once; the
// attacker tries one of them, as long as a slow machine may need.
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>

#include "attack/program/attack.h"

namespace sallyport::attacks {
namespace {

constexpr std::size_t kRoom = 64;
constexpr unsigned kLongest = 30;
constexpr int kAttempts = 60;
constexpr useconds_t kPause = 25'000;

struct Message {
  long type;
  char text[kRoom];
};

key_t key() { return static_cast<key_t>(arg_number("key")); }

socklen_t abstract_address(sockaddr_un& address) {
  const std::string name = "sallyport-partner-" + arg("key");
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 2);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

std::string shared_file(const char* directory) { return std::string(directory) + "/sallyport-partner-" + arg("key"); }

void offer_by_sysv(const std::string& secret) {
  const int segment = shmget(key(), kRoom, IPC_CREAT | IPC_EXCL | 0600);
  void* const shared = segment >= 0 ? shmat(segment, nullptr, 0) : nullptr;
  if (shared != nullptr && reinterpret_cast<long>(shared) != -1) secret.copy(static_cast<char*>(shared), kRoom - 1);
  const int queue = msgget(key(), IPC_CREAT | IPC_EXCL | 0600);
  Message message{1, {}};
  secret.copy(message.text, kRoom - 1);
  msgsnd(queue, &message, sizeof message.text, IPC_NOWAIT);
}

void partner() {
  alarm(kLongest);
  umask(0077);
  const std::string secret = arg("secret");
  put(shared_file("/tmp"), secret);
  put(shared_file("/dev/shm"), secret);
  offer_by_sysv(secret);
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  const socklen_t size = abstract_address(address);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), size) != 0 || listen(listener, 1) != 0) return;
  while (true) {
    const int caller = accept(listener, nullptr, nullptr);
    if (caller >= 0) send(caller, secret.data(), secret.size(), MSG_NOSIGNAL);
    close(caller);
  }
}

template <class Attempt>
void keep_trying(Attempt attempt) {
  for (int i = 0; i < kAttempts && !attempt(); ++i) usleep(kPause);
}

void by_abstract() {
  keep_trying([] {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    const socklen_t size = abstract_address(address);
    char text[kRoom] = {};
    const bool got =
        connect(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0 && read(fd, text, kRoom - 1) > 0;
    close(fd);
    if (got) effect(text);
    return got;
  });
}

void by_sysv_shm() {
  keep_trying([] {
    const int segment = shmget(key(), kRoom, 0);
    if (segment < 0) return false;
    const void* const shared = shmat(segment, nullptr, SHM_RDONLY);
    if (reinterpret_cast<long>(shared) == -1 || *static_cast<const char*>(shared) == '\0') return false;
    effect(static_cast<const char*>(shared));
    return true;
  });
}

void by_sysv_msg() {
  keep_trying([] {
    const int queue = msgget(key(), 0);
    Message message{};
    if (queue < 0 || msgrcv(queue, &message, sizeof message.text, 0, IPC_NOWAIT) < 0) return false;
    effect(message.text);
    return true;
  });
}

// What the partner leaves on a host without a jail. Run as a deed of its own, by the runner.
void clean_up() {
  unlink(shared_file("/tmp").c_str());
  unlink(shared_file("/dev/shm").c_str());
  shmctl(shmget(key(), kRoom, 0), IPC_RMID, nullptr);
  msgctl(msgget(key(), 0), IPC_RMID, nullptr);
}

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"partner", partner},
    Entry{"partner_clean_up", clean_up},
    Entry{"jails_by_abstract", by_abstract},
    Entry{"jails_by_tmp", [] { keep_trying([] { return print_file(shared_file("/tmp")); }); }},
    Entry{"jails_by_shm", [] { keep_trying([] { return print_file(shared_file("/dev/shm")); }); }},
    Entry{"jails_by_sysv_shm", by_sysv_shm},
    Entry{"jails_by_sysv_msg", by_sysv_msg},
});

}  // namespace

std::span<const Entry> jail_to_jail_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
