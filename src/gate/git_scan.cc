#include "gate/git_scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "core/errors.h"
#include "core/text/printable.h"
#include "os/openat2.h"

namespace sallyport {
namespace {

constexpr int kList = O_RDONLY | O_DIRECTORY | O_NONBLOCK;

std::string below(const std::string& directory, std::string_view name) {
  return directory.empty() ? std::string(name) : fmt::format("{}/{}", directory, name);
}

GitKind kind_of(unsigned char type) {
  switch (type) {
    case DT_DIR:
      return GitKind::kDirectory;
    case DT_REG:
      return GitKind::kFile;
    case DT_LNK:
      return GitKind::kSymlink;
    default:
      return GitKind::kOther;
  }
}

// Some file systems do not give an entry's type in the listing.
unsigned char type_of(int directory, const dirent64& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type;
  struct stat info{};
  if (::fstatat(directory, static_cast<const char*>(entry.d_name), &info, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
  return static_cast<unsigned char>(IFTODT(info.st_mode));
}

// Below `.git/modules` and `.git/worktrees` lie git directories. A symlink there leads git to a directory elsewhere.
bool is_place_for_git(std::string_view directory, bool root_is_git) {
  constexpr std::string_view kName = ".git/";
  const std::size_t at = directory.find(kName);
  const bool below_git = at != std::string_view::npos && (at == 0 || directory[at - 1] == '/');
  if (!below_git && !root_is_git) return false;
  const std::string_view rest = below_git ? directory.substr(at + kName.size()) : directory;
  return rest.starts_with("modules") || rest.starts_with("worktrees");
}

class Scanner {
 public:
  Scanner(int root, const ScanBounds& bounds) : root_(root), bounds_(bounds) {}

  GitScan run() {
    pending_.emplace_back();
    while (!pending_.empty() && scan_.incomplete.empty()) {
      const std::string directory = std::move(pending_.back());
      pending_.pop_back();
      pending_bytes_ -= directory.size();
      if (out_of_time()) {
        stop("there was no time to check all of it");
      } else {
        read(directory);
      }
    }
    return std::move(scan_);
  }

 private:
  [[nodiscard]] bool out_of_time() const { return std::chrono::steady_clock::now() >= bounds_.deadline; }

  void stop(std::string why) {
    if (scan_.incomplete.empty()) scan_.incomplete = std::move(why);
  }

  // True for our own directory that even we may not search: its content cannot be reached now, but can after a chmod.
  [[nodiscard]] bool is_closed(int fd) const {
    struct stat info{};
    if (euid_ == 0 || ::fstat(fd, &info) != 0) return false;
    return info.st_uid == euid_ && (info.st_mode & S_IXUSR) == 0;
  }

  void read(const std::string& directory) {
    const Result<UniqueFd> fd = open_listable(root_, directory);
    if (!fd) {
      const auto* failed = fd.error().as<SystemError>();
      const int error_number = failed == nullptr ? 0 : failed->error_number;
      // It is gone, or no longer a directory: another process works in the tree too. Or we may not read it: then the
      // tool, which has no more rights than we have, could not write there either.
      if (error_number == ENOENT || error_number == ELOOP || error_number == ENOTDIR || error_number == EACCES) return;
      return stop(fd.error().message);
    }
    names_ = {};
    alignas(dirent64) std::array<char, 65536> buffer;
    for (;;) {
      const ssize_t got = ::getdents64(fd->get(), buffer.data(), buffer.size());
      if (got < 0) return stop(system_error("list", directory, errno).message);
      if (got == 0) break;
      for (ssize_t at = 0; at < got;) {
        const auto* const entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
        note(fd->get(), directory, *entry);
        at += entry->d_reclen;
      }
      if (scan_.entries > bounds_.most_entries) {
        return stop(fmt::format("it holds more than {} files", bounds_.most_entries));
      }
      if (out_of_time()) return stop("there was no time to check all of it");
    }
    if (names_.directories && is_closed(fd->get())) {
      return stop(fmt::format("{} cannot be searched", printable(directory)));
    }
    const bool is_one = names_.head && ((names_.objects && names_.refs) || names_.commondir);
    const std::string_view name = std::string_view(directory).substr(directory.rfind('/') + 1);
    if (is_one && name != ".git") add({.path = directory, .kind = GitKind::kDirectory});
  }

  void note(int fd, const std::string& directory, const dirent64& entry) {
    const std::string_view name(static_cast<const char*>(entry.d_name));
    if (name == "." || name == "..") return;
    ++scan_.entries;
    names_.head |= name == "HEAD";
    names_.objects |= name == "objects";
    names_.refs |= name == "refs";
    names_.commondir |= name == "commondir";
    const unsigned char type = type_of(fd, entry);
    if (name == ".git" || (type == DT_LNK && is_place_for_git(directory, bounds_.root_is_git))) {
      add({.path = below(directory, name), .kind = kind_of(type)});
    }
    if (type != DT_DIR) return;
    names_.directories = true;
    pending_.push_back(below(directory, name));
    pending_bytes_ += pending_.back().size();
    if (pending_bytes_ > bounds_.most_pending_bytes) stop("it holds too many directories");
  }

  void add(FoundGit found) {
    if (scan_.found.size() >= bounds_.most_found) return stop("it holds too many git directories");
    scan_.found.push_back(std::move(found));
  }

  struct Names {
    bool head = false;
    bool objects = false;
    bool refs = false;
    bool commondir = false;
    bool directories = false;
  };

  int root_;
  uid_t euid_ = ::geteuid();
  const ScanBounds& bounds_;
  GitScan scan_;
  std::vector<std::string> pending_;
  std::uint64_t pending_bytes_ = 0;
  Names names_;
};

}  // namespace

Result<UniqueFd> open_listable(int root, const std::string& relative) {
  const char* const path = relative.empty() ? "." : relative.c_str();
  int fd = openat2_within(root, path, kList);
  if (fd >= 0) return UniqueFd(fd);
  if (fd != -EACCES) return fail(system_error("open", printable(relative), -fd));
  const UniqueFd found(openat2_within(root, path, O_PATH | O_DIRECTORY));
  struct stat info{};
  if (!found || ::fstat(found.get(), &info) != 0 || info.st_uid != ::geteuid()) {
    return fail(system_error("open", printable(relative), EACCES));
  }
  // By the descriptor, because another directory may have the path by now.
  const std::string by_descriptor = fmt::format("/proc/self/fd/{}", found.get());
  if (::chmod(by_descriptor.c_str(), (info.st_mode & 07777U) | 0500U) != 0) {
    return fail(system_error("open", printable(relative), EACCES));
  }
  fd = ::open(by_descriptor.c_str(), kList | O_CLOEXEC);
  const int failed = errno;
  if (::chmod(by_descriptor.c_str(), info.st_mode & 07777U) != 0 || fd < 0) {
    return fail(system_error("open", printable(relative), failed));
  }
  return UniqueFd(fd);
}

GitScan scan_for_git(int root, const ScanBounds& bounds) { return Scanner(root, bounds).run(); }

}  // namespace sallyport
