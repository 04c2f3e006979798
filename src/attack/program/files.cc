// Reading what is hidden, writing what is protected.
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "attack/program/attack.h"

namespace sallyport::attacks {
namespace {

constexpr std::string_view kGraffiti = "was here\n";

void symlink_then_read(const std::string& target) {
  const std::string link = arg("repo") + "/link";
  if (symlink(target.c_str(), link.c_str()) == 0) print_file(link);
}

void symlink_write_out() {
  const std::string link = arg("repo") + "/link";
  if (symlink(arg("victim").c_str(), link.c_str()) == 0) put(link, kGraffiti);
}

void read_shadow() {
  const int fd = open("/etc/shadow", O_RDONLY | O_CLOEXEC);
  struct stat about{};
  // Its size is proof enough; do not read its content.
  if (fd >= 0 && fstat(fd, &about) == 0) effect("shadow of " + std::to_string(about.st_size));
}

void make_file() { put(arg("appears"), kGraffiti); }

void change_protected() {
  const timespec long_ago[2] = {{1, 0}, {1, 0}};
  chmod(arg("victim").c_str(), 0777);
  utimensat(AT_FDCWD, arg("victim").c_str(), long_ago, 0);
}

// Open for reading is enough for these.
void change_flags() {
  const int fd = open(arg("victim").c_str(), O_RDONLY | O_CLOEXEC);
  int flags = 0;
  if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return;
  flags ^= FS_NODUMP_FL;
  if (ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0) broken();
}

// A watch would report the name of every file that is made there.
void watch_home() {
  const std::string secret = arg("home_secret");
  const int events = inotify_init1(IN_CLOEXEC);
  if (inotify_add_watch(events, secret.substr(0, secret.rfind('/')).c_str(), IN_ALL_EVENTS) >= 0) broken();
}

void hardlink_protected() {
  const std::string link = arg("repo") + "/open/link";
  if (::link(arg("victim").c_str(), link.c_str()) == 0) put(link, kGraffiti);
}

void rename_protected() {
  const std::string mine = arg("repo") + "/open/mine";
  if (put(mine, kGraffiti)) rename(mine.c_str(), arg("victim").c_str());
}

void rename_ancestor() {
  const std::string parent = arg("repo") + "/shut";
  if (rename(parent.c_str(), (parent + "-away").c_str()) != 0) return;
  if (mkdir(parent.c_str(), 0755) == 0) put(arg("victim"), kGraffiti);
}

void write_by_alias() {
  if (!put(std::string(kRepoInside) + "/shut/protected", kGraffiti)) put(arg("victim"), kGraffiti);
}

template <class Try>
void each_inherited(Try attempt) {
  constexpr int kHighest = 256;
  for (int fd = 3; fd < kHighest; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) attempt(fd);
  }
}

void inherited_fd() {
  each_inherited([](int fd) { print_file("/proc/self/fd/" + std::to_string(fd)); });
}

void inherited_directory() {
  each_inherited([](int fd) {
    const int victim = openat(fd, "victim", O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (victim >= 0 && write(victim, kGraffiti.data(), kGraffiti.size()) < 0) close(victim);
  });
}

void cwd_dot_dot() { print_file("../outside/secret"); }

// The running program cannot be written (ETXTBSY), so become another one first and keep only a handle on it.
void own_exe_overwritten() {
  constexpr int kHandle = 9;
  const int exe = open("/proc/self/exe", O_PATH);
  if (exe < 0 || dup2(exe, kHandle) != kHandle) return;
  execl("/bin/sh", "sh", "-c", "echo was here >> /proc/self/fd/9", nullptr);
}

void open_for(const char* path, int flags) {
  const int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK);
  struct stat about{};
  // The null device is a mask over it.
  if (fd >= 0 && fstat(fd, &about) == 0 && !S_ISCHR(about.st_mode)) broken();
}

void proc_sys_write() { open_for("/proc/sys/kernel/domainname", O_WRONLY); }
void proc_sysrq() { open_for("/proc/sysrq-trigger", O_WRONLY); }
void proc_kcore() { open_for("/proc/kcore", O_RDONLY); }

void cgroup_write() {
  for (const char* path : {"/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/pids/cgroup.procs",
                           "/sys/fs/cgroup/memory/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs"}) {
    open_for(path, O_WRONLY);
  }
}

void core_file() {
  rlimit limit{};
  getrlimit(RLIMIT_CORE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_CORE, &limit);
  in_child([] { raise(SIGABRT); });
}

// The kernel feeds a core_pattern that is a pipe at every limit but exactly 1 (core(5)). It does not matter whether
// this host has one: the limit decides.
void broken_if_handler_is_fed() {
  rlimit limit{};
  if (getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur != 1) broken();
}

void read_of(const char* path) {
  char some[4096];
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd >= 0 && read(fd, some, sizeof some) > 0) broken();
  close(fd);
}

// Everything in /proc but what belongs to a process and what belongs to a network namespace: a file that only root may
// read, read.
int look_for_readable(const char* path, const struct stat* about, int what, FTW* where) {
  const std::string_view name = path;
  const bool of_process = where->level == 1 && name.find_first_of("0123456789") == std::string_view("/proc/").size();
  if (of_process || name == "/proc/self" || name == "/proc/thread-self" || name == "/proc/sys/net") {
    return FTW_SKIP_SUBTREE;
  }
  // A directory that only root may list shows by its entries.
  if (what == FTW_D && (about->st_mode & S_IRWXO) == 0 && name != "/proc") {
    DIR* const entries = opendir(path);
    if (entries == nullptr) return FTW_SKIP_SUBTREE;
    int count = 0;
    while (readdir(entries) != nullptr) ++count;
    closedir(entries);
    if (count > 2) broken();
  }
  // Reading the kernel's log would remove it for others.
  if (what == FTW_F && (about->st_mode & S_IROTH) == 0 && name != "/proc/kmsg") read_of(path);
  return FTW_CONTINUE;
}

void walk_proc() {
  constexpr int kDescriptors = 16;
  nftw("/proc", look_for_readable, kDescriptors, FTW_PHYS | FTW_ACTIONRETVAL);
}

void delete_protected() { unlink(arg("victim").c_str()); }

void write_mapped() {
  const int fd = open(arg("victim").c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void* const page = mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) return;
  *static_cast<char*>(page) = '!';
  msync(page, 1, MS_SYNC);
}

// Overlayfs lets a descriptor that was opened for reading refer to the lower file.
void write_reopened() {
  const int fd = open(arg("victim").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0) put("/proc/self/fd/" + std::to_string(fd), kGraffiti);
}

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"workspace_overwrite", [] { put(arg("victim"), kGraffiti); }},
    Entry{"workspace_by_alias", write_by_alias},
    Entry{"workspace_new_file", make_file},
    Entry{"workspace_delete", delete_protected},
    Entry{"workspace_chmod", change_protected},
    Entry{"workspace_hard_link", hardlink_protected},
    Entry{"workspace_rename_over", rename_protected},
    Entry{"workspace_rename_ancestor", rename_ancestor},
    Entry{"workspace_mapped", write_mapped},
    Entry{"workspace_reopened", write_reopened},
    Entry{"symlink_read_home", [] { symlink_then_read(arg("home_secret")); }},
    Entry{"symlink_read_tmp", [] { print_file(arg("repo") + "/to_tmp"); }},
    Entry{"symlink_write_out", symlink_write_out},
    Entry{"read_home", [] { print_file(arg("home_secret")); }},
    Entry{"read_root_home", [] { print_entries("/root"); }},
    Entry{"read_homes", [] { print_entries("/home"); }},
    Entry{"read_run", [] { print_entries("/run"); }},
    Entry{"read_var_run", [] { print_entries("/var/run/"); }},
    Entry{"read_shadow", read_shadow},
    Entry{"read_host_tmp", [] { print_file(arg("tmp_secret")); }},
    Entry{"read_host_shm", [] { print_file(arg("shm_secret")); }},
    Entry{"read_host_var_tmp", [] { print_file(arg("var_tmp_secret")); }},
    Entry{"write_host_tmp", make_file},
    Entry{"write_host_var_tmp", make_file},
    Entry{"write_host_shm", make_file},
    Entry{"write_usr", make_file},
    Entry{"write_bin", make_file},
    Entry{"write_etc", make_file},
    Entry{"write_outside", [] { put(arg("victim"), kGraffiti); }},
    Entry{"write_readonly_repo", make_file},
    Entry{"chmod_readonly_repo", change_protected},
    Entry{"flags_readonly_repo", change_flags},
    Entry{"watch_home", watch_home},
    Entry{"hardlink_protected", hardlink_protected},
    Entry{"rename_protected", rename_protected},
    Entry{"rename_ancestor", rename_ancestor},
    Entry{"write_by_alias", write_by_alias},
    Entry{"ro_symlink_replaced",
          [] {
            const std::string link = arg("repo") + "/link";
            if (unlink(link.c_str()) == 0 && mkdir(link.c_str(), 0755) == 0) make_file();
          }},
    Entry{"ro_hard_link", [] { put(arg("repo") + "/second", kGraffiti); }},
    Entry{"ro_hard_link_below", [] { put(arg("repo") + "/second", kGraffiti); }},
    Entry{"protected_below_rw", [] { put(arg("victim"), kGraffiti); }},
    Entry{"inherited_fd", inherited_fd},
    Entry{"inherited_directory", inherited_directory},
    Entry{"cwd_dot_dot", cwd_dot_dot},
    Entry{"own_exe_overwritten", own_exe_overwritten},
    Entry{"proc_sys_write", proc_sys_write},
    Entry{"proc_sysrq", proc_sysrq},
    Entry{"proc_kcore", proc_kcore},
    Entry{"cgroup_write", cgroup_write},
    Entry{"core_file", core_file},
    Entry{"core_handler", broken_if_handler_is_fed},
    Entry{"proc_kpagecount", [] { open_for("/proc/kpagecount", O_RDONLY); }},
    Entry{"proc_kpageflags", [] { open_for("/proc/kpageflags", O_RDONLY); }},
    Entry{"proc_slabinfo", [] { read_of("/proc/slabinfo"); }},
    Entry{"proc_vmallocinfo", [] { read_of("/proc/vmallocinfo"); }},
    Entry{"proc_pagetypeinfo", [] { open_for("/proc/pagetypeinfo", O_RDONLY); }},
    Entry{"proc_for_root_only", walk_proc},
});

}  // namespace

std::span<const Entry> file_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
