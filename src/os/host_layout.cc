#include "os/host_layout.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <set>
#include <span>
#include <utility>

#include "os/directory.h"
#include "sallyport/unique_fd.h"

namespace sallyport {
namespace {

constexpr auto kSystem =
    std::to_array<const char*>({"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store"});

// The jail shows only the names in this list. Every mount costs tens of microseconds to make and to tear down, so we
// mount only directories and one large file, and copy small files into each jail.
constexpr auto kEtcMounts =
    std::to_array<const char*>({"/etc/alternatives", "/etc/crypto-policies", "/etc/fonts", "/etc/ld.so.cache",
                                "/etc/pki/ca-trust", "/etc/pki/tls/certs", "/etc/ssl/certs"});
constexpr auto kEtcFiles =
    std::to_array<const char*>({"/etc/gai.conf", "/etc/host.conf", "/etc/localtime", "/etc/os-release",
                                "/etc/protocols", "/etc/services", "/etc/ssl/openssl.cnf", "/etc/timezone"});

constexpr off_t kLargestCopiedFile = off_t{256} * 1024;

// Files that reveal more about the host than a tool needs, or that control the host.
constexpr auto kProcMasks =
    std::to_array<const char*>({"/proc/kallsyms", "/proc/keys", "/proc/sched_debug", "/proc/timer_list"});
// The same, for files that the kernel shows only to root. For these a root caller's tool is root: the kernel checks
// only the id.
constexpr auto kProcMasksForRoot = std::to_array<const char*>(
    {"/proc/kcore", "/proc/kmsg", "/proc/kpagecgroup", "/proc/kpagecount", "/proc/kpageflags", "/proc/pagetypeinfo",
     "/proc/slabinfo", "/proc/sys/kernel/cad_pid", "/proc/sys/kernel/usermodehelper", "/proc/sys/vm/mmap_rnd_bits",
     "/proc/sys/vm/mmap_rnd_compat_bits", "/proc/sys/vm/stat_refresh", "/proc/sysrq-trigger", "/proc/tty/driver",
     "/proc/vmallocinfo"});

enum class Found { kNothing, kLink, kDirectory, kFile };

// Uses as few system calls as possible: every start of the program runs this.
Found find_kind(const std::string& path, std::string& link_text) {
  std::array<char, PATH_MAX> text{};
  const ssize_t size = ::readlink(path.c_str(), text.data(), text.size());
  if (size >= 0) {
    link_text.assign(text.data(), static_cast<std::size_t>(size));
    return Found::kLink;
  }
  struct stat about{};
  if (errno != EINVAL || ::lstat(path.c_str(), &about) != 0) return Found::kNothing;
  if (S_ISDIR(about.st_mode)) return Found::kDirectory;
  return S_ISREG(about.st_mode) ? Found::kFile : Found::kNothing;
}

void add_etc(const std::string& path, HostLayout& layout) {
  std::string text;
  const Found found = find_kind(path, text);
  if (found == Found::kLink) layout.etc_links.push_back({path, std::move(text)});
  if (found == Found::kDirectory || found == Found::kFile) layout.etc.push_back({path, found == Found::kDirectory});
}

// A link stays a link; if we cannot read a file, the tool could not have read it either.
void add_etc_file(const std::string& path, HostLayout& layout) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  if (!fd) {
    if (errno == ELOOP) add_etc(path, layout);
    return;
  }
  struct stat about{};
  const bool known = ::fstat(fd.get(), &about) == 0;
  if (known && S_ISREG(about.st_mode) && about.st_size <= kLargestCopiedFile) layout.etc_files.push_back(path);
}

// Java keeps its configuration in /etc/java-17-openjdk or below /etc/java, and links to it from its home, for example
// /usr/lib/jvm/java-17-openjdk-amd64. We list that directory, which has few names, and not /etc with its hundreds.
void add_java(HostLayout& layout) {
  const UniqueFd homes(::open("/usr/lib/jvm", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!homes) return;
  std::set<std::string> names = {"java"};
  for (const std::string& home : list_directory(homes.get(), "/usr/lib/jvm").value_or(std::vector<std::string>())) {
    constexpr std::string_view kVendor = "-openjdk";
    const std::size_t vendor = home.find(kVendor);
    if (home.starts_with("java-") && vendor != std::string::npos) names.insert(home.substr(0, vendor + kVendor.size()));
  }
  for (const std::string& name : names) add_etc("/etc/" + name, layout);
}

void add_masks(std::span<const char* const> paths, HostLayout& layout) {
  for (const char* path : paths) {
    struct stat about{};
    if (::lstat(path, &about) == 0) layout.proc_masks.push_back({path, S_ISDIR(about.st_mode)});
  }
}

}  // namespace

HostLayout read_host_layout() {
  HostLayout layout;
  for (const char* path : kSystem) {
    std::string text;
    const Found found = find_kind(path, text);
    if (found == Found::kLink) layout.system_links.push_back({path, std::move(text)});
    if (found == Found::kDirectory) layout.system_directories.emplace_back(path);
  }
  for (const char* path : kEtcMounts) add_etc(path, layout);
  for (const char* path : kEtcFiles) add_etc_file(path, layout);
  add_java(layout);
  add_masks(kProcMasks, layout);
  if (::geteuid() == 0) add_masks(kProcMasksForRoot, layout);
  struct stat about{};
  layout.has_mqueue = ::stat("/proc/sys/fs/mqueue", &about) == 0;
  return layout;
}

}  // namespace sallyport
