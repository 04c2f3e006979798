#include "os/host_layout.h"

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "os/file.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

constexpr std::array kSystem = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store"};

// By omission: a name not here is not there. Every mount costs tens of microseconds to make and to take apart, so only
// directories and one large file are mounted; small files are read here once and written into each jail.
constexpr std::array kEtcMounts = {"/etc/alternatives", "/etc/crypto-policies", "/etc/fonts",    "/etc/ld.so.cache",
                                   "/etc/pki/ca-trust", "/etc/pki/tls/certs",   "/etc/ssl/certs"};
constexpr std::array kEtcFiles = {"/etc/gai.conf",  "/etc/host.conf", "/etc/localtime",       "/etc/os-release",
                                  "/etc/protocols", "/etc/services",  "/etc/ssl/openssl.cnf", "/etc/timezone"};
constexpr ByteCount kLargestCopiedFile{256 * 1024};

// Files that say more about the host than a tool needs, or that act on it.
constexpr std::array kProcMasks = {"/proc/kallsyms",    "/proc/kcore",         "/proc/keys",      "/proc/kmsg",
                                   "/proc/sched_debug", "/proc/sysrq-trigger", "/proc/timer_list"};

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

// A link stays a link; a file we cannot read is one the tool could not have read either.
void add_etc_file(const fs::path& path, HostLayout& layout) {
  std::error_code error;
  if (fs::is_regular_file(fs::symlink_status(path, error))) {
    Result<std::string> content = read_whole_file(path, kLargestCopiedFile);
    if (content) layout.etc_files.push_back({path, *std::move(content)});
  } else {
    add_etc(path, layout);
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
  for (const char* path : kEtcMounts) add_etc(path, layout);
  for (const char* path : kEtcFiles) add_etc_file(path, layout);
  add_java(layout);
  for (const char* path : kProcMasks) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (!error && fs::exists(status)) layout.proc_masks.push_back({path, fs::is_directory(status)});
  }
  return layout;
}

}  // namespace sallyport
