// Reading what is hidden, writing what is protected.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "attack.h"

namespace sallyport::attacks {
namespace {

constexpr std::string_view kGraffiti = "was here\n";

void symlink_then_read(const std::string& target) {
  const std::string link = arg("repo") + "/link";
  if (symlink(target.c_str(), link.c_str()) == 0) tell_file(link);
}

void symlink_write_out() {
  const std::string link = arg("repo") + "/link";
  if (symlink(arg("victim").c_str(), link.c_str()) == 0) put(link, kGraffiti);
}

void read_shadow() {
  const int fd = open("/etc/shadow", O_RDONLY | O_CLOEXEC);
  struct stat about{};
  // Its size is proof enough; its content is nobody's business.
  if (fd >= 0 && fstat(fd, &about) == 0) effect("shadow of " + std::to_string(about.st_size));
}

void make_file() { put(arg("appears"), kGraffiti); }

void change_protected() {
  const timespec long_ago[2] = {{1, 0}, {1, 0}};
  chmod(arg("victim").c_str(), 0777);
  utimensat(AT_FDCWD, arg("victim").c_str(), long_ago, 0);
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

// Where a jail shows the repo once more (C14); on a host that is only the first word of a path.
constexpr const char* kRepoInside = "/work";

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
  each_inherited([](int fd) { tell_file("/proc/self/fd/" + std::to_string(fd)); });
}

void inherited_directory() {
  each_inherited([](int fd) {
    const int victim = openat(fd, "victim", O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (victim >= 0 && write(victim, kGraffiti.data(), kGraffiti.size()) < 0) close(victim);
  });
}

void cwd_dot_dot() { tell_file("../outside/secret"); }

// The running program cannot be written (ETXTBSY), so become another one first and keep only a handle on it.
void own_exe_overwritten() {
  constexpr int kHandle = 9;
  const int exe = open("/proc/self/exe", O_PATH);
  if (exe < 0 || dup2(exe, kHandle) != kHandle) return;
  execl("/bin/sh", "sh", "-c", "echo was here >> /proc/self/fd/9", nullptr);
}

void open_for(const char* path, int flags) {
  const int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK);
  if (fd >= 0) broken();
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

constexpr std::array kDeeds = {
    Entry{"symlink_read_home", [] { symlink_then_read(arg("home_secret")); }},
    Entry{"symlink_read_tmp", [] { symlink_then_read(arg("tmp_secret")); }},
    Entry{"symlink_write_out", symlink_write_out},
    Entry{"read_home", [] { tell_file(arg("home_secret")); }},
    Entry{"read_root_home", [] { tell_entries("/root"); }},
    Entry{"read_homes", [] { tell_entries("/home"); }},
    Entry{"read_run", [] { tell_entries("/run"); }},
    Entry{"read_var_run", [] { tell_entries("/var/run/"); }},
    Entry{"read_shadow", read_shadow},
    Entry{"read_host_tmp", [] { tell_file(arg("tmp_secret")); }},
    Entry{"read_host_shm", [] { tell_file(arg("shm_secret")); }},
    Entry{"write_host_tmp", make_file},
    Entry{"write_host_shm", make_file},
    Entry{"write_usr", make_file},
    Entry{"write_bin", make_file},
    Entry{"write_etc", make_file},
    Entry{"write_outside", [] { put(arg("victim"), kGraffiti); }},
    Entry{"write_readonly_repo", make_file},
    Entry{"chmod_readonly_repo", change_protected},
    Entry{"hardlink_protected", hardlink_protected},
    Entry{"rename_protected", rename_protected},
    Entry{"rename_ancestor", rename_ancestor},
    Entry{"write_by_alias", write_by_alias},
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
};

}  // namespace

std::span<const Entry> file_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
