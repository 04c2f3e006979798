// Changing what is the host's own about a device node: mode, owner, times, access list. Without a jail the attacks use
// copies of the nodes in a mount namespace of our own, so that the host keeps its /dev.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "attack/program/attack.h"

namespace sallyport::attacks {
namespace {

struct Node {
  const char* path;
  unsigned minor;
};
constexpr auto kNodes = std::to_array<Node>({Node{"/dev/null", 3}, Node{"/dev/zero", 5}, Node{"/dev/full", 7},
                                             Node{"/dev/random", 8}, Node{"/dev/urandom", 9}});
// A jail may hide files in /proc behind a device node.
constexpr auto kHidden =
    std::to_array<Node>({Node{"/proc/kallsyms", 3}, Node{"/proc/timer_list", 3}, Node{"/proc/keys", 3}});

bool cover(const Node& node) {
  const std::string copy = "/mnt/" + std::to_string(node.minor);
  mknod(copy.c_str(), S_IFCHR | 0666, makedev(1, node.minor));
  return mount(copy.c_str(), node.path, nullptr, MS_BIND, nullptr) == 0 || access(node.path, F_OK) != 0;
}

// For root without a jail. Other users cannot harm the host's nodes; in a jail, the jail must prevent it.
bool spare_the_host() {
  if (geteuid() != 0) return true;
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  if (mount("tmpfs", "/mnt", "tmpfs", 0, "size=64k") != 0) return false;
  for (const Node& node : kNodes) {
    if (!cover(node)) return false;
  }
  for (const Node& node : kHidden) {
    if (!cover(node)) return false;
  }
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  return null >= 0 && dup2(null, STDIN_FILENO) == STDIN_FILENO;
}

struct Seen {
  mode_t mode;
  uid_t owner;
  timespec changed;
  timespec modified;
};

Seen look(const struct stat& about) { return {about.st_mode, about.st_uid, about.st_ctim, about.st_mtim}; }

bool same(const timespec& one, const timespec& other) {
  return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

bool same(const Seen& one, const Seen& other) {
  return one.mode == other.mode && one.owner == other.owner && same(one.changed, other.changed) &&
         same(one.modified, other.modified);
}

constexpr timespec kLongAgo[2] = {{1, 0}, {1, 0}};

template <class Nodes, class Try>
void each(const Nodes& nodes, Try attempt) {
  if (!spare_the_host()) return;
  for (const Node& node : nodes) {
    struct stat before{};
    if (stat(node.path, &before) != 0) continue;
    attempt(node.path);
    struct stat after{};
    if (stat(node.path, &after) == 0 && !same(look(before), look(after))) broken();
  }
}

template <class Try>
void to_stdin(Try attempt) {
  if (!spare_the_host()) return;
  struct stat before{};
  struct stat after{};
  if (fstat(STDIN_FILENO, &before) != 0) return;
  attempt();
  if (fstat(STDIN_FILENO, &after) == 0 && !same(look(before), look(after))) broken();
}

void by_descriptor(const char* path, void (*attempt)(int)) {
  for (const int how : {O_RDONLY, O_WRONLY, O_RDWR}) {
    const int fd = open(path, how | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) continue;
    attempt(fd);
    close(fd);
  }
}

// "user::rw-,group::rw-,other::r--", as setfacl writes it.
void set_access_list(const char* path) {
  struct Entry {
    std::uint16_t tag, permissions;
    std::uint32_t id;
  };
  struct {
    std::uint32_t version = 2;
    Entry entries[3] = {{0x01, 6, 0xffffffff}, {0x04, 6, 0xffffffff}, {0x20, 4, 0xffffffff}};
  } list;
  setxattr(path, "system.posix_acl_access", &list, sizeof list, 0);
}

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"device_chmod", [] { each(kNodes, [](const char* path) { chmod(path, 0600); }); }},
    Entry{"device_chown",
          [] {
            each(kNodes, [](const char* path) {
              if (chown(path, getuid(), getgid()) != 0) return;
            });
          }},
    Entry{"device_utimes", [] { each(kNodes, [](const char* path) { utimensat(AT_FDCWD, path, kLongAgo, 0); }); }},
    Entry{"device_touch", [] { each(kNodes, [](const char* path) { utimensat(AT_FDCWD, path, nullptr, 0); }); }},
    Entry{"device_access_list", [] { each(kNodes, set_access_list); }},
    Entry{"device_fchmod",
          [] { each(kNodes, [](const char* path) { by_descriptor(path, [](int fd) { fchmod(fd, 0600); }); }); }},
    Entry{"device_futimes",
          [] { each(kNodes, [](const char* path) { by_descriptor(path, [](int fd) { futimens(fd, kLongAgo); }); }); }},
    Entry{"null_stdin_fchmod", [] { to_stdin([] { fchmod(STDIN_FILENO, 0600); }); }},
    Entry{"null_stdin_futimes", [] { to_stdin([] { futimens(STDIN_FILENO, nullptr); }); }},
    Entry{"null_stdin_by_proc", [] { to_stdin([] { chmod("/proc/self/fd/0", 0600); }); }},
    Entry{"mask_chmod", [] { each(kHidden, [](const char* path) { chmod(path, 0640); }); }},
});

}  // namespace

std::span<const Entry> device_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
