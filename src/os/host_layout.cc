#include "os/host_layout.h"

#include <array>
#include <filesystem>
#include <system_error>

namespace sallyport {
namespace {

namespace fs = std::filesystem;

constexpr std::array kSystem = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store"};

// By omission: a name not here is not there. Directories are taken whole.
constexpr std::array kEtc = {"/etc/alternatives",
                             "/etc/ca-certificates",
                             "/etc/ca-certificates.conf",
                             "/etc/crypto-policies",
                             "/etc/debian_version",
                             "/etc/fonts",
                             "/etc/gai.conf",
                             "/etc/host.conf",
                             "/etc/ld.so.cache",
                             "/etc/ld.so.conf",
                             "/etc/ld.so.conf.d",
                             "/etc/locale.alias",
                             "/etc/localtime",
                             "/etc/magic",
                             "/etc/mime.types",
                             "/etc/os-release",
                             "/etc/perl",
                             "/etc/pki/ca-trust",
                             "/etc/pki/tls/certs",
                             "/etc/protocols",
                             "/etc/python3",
                             "/etc/python3.11",
                             "/etc/services",
                             "/etc/ssl/certs",
                             "/etc/ssl/openssl.cnf",
                             "/etc/terminfo",
                             "/etc/timezone"};

// Files that say more about the host than a tool needs, or that act on it.
constexpr std::array kProcMasks = {"/proc/acpi",        "/proc/bus",           "/proc/kallsyms",   "/proc/kcore",
                                   "/proc/keys",        "/proc/key-users",     "/proc/kmsg",       "/proc/scsi",
                                   "/proc/sched_debug", "/proc/sysrq-trigger", "/proc/timer_list", "/proc/timer_stats"};

void add_etc(const fs::path& path, HostLayout& layout) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (error) return;
  if (fs::is_symlink(status)) {
    const fs::path text = fs::read_symlink(path, error);
    if (!error) layout.etc_links.push_back({path, text});
  } else if (fs::is_directory(status) || fs::is_regular_file(status)) {
    layout.etc.push_back({path, fs::is_directory(status)});
  }
}

// Java keeps its configuration in /etc/java-NN-openjdk and links to it from /usr/lib/jvm.
void add_java(HostLayout& layout) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/etc", error)) {
    if (entry.path().filename().string().starts_with("java")) add_etc(entry.path(), layout);
  }
}

}  // namespace

HostLayout read_host_layout() {
  HostLayout layout;
  for (const char* path : kSystem) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (error) continue;
    if (fs::is_symlink(status)) {
      const fs::path text = fs::read_symlink(path, error);
      if (!error) layout.system_links.push_back({path, text});
    } else if (fs::is_directory(status)) {
      layout.system_directories.emplace_back(path);
    }
  }
  for (const char* path : kEtc) add_etc(path, layout);
  add_java(layout);
  for (const char* path : kProcMasks) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (!error && fs::exists(status)) layout.proc_masks.push_back({path, fs::is_directory(status)});
  }
  return layout;
}

}  // namespace sallyport
