#include "os/remove_tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/errors.h"
#include "os/directory.h"
#include "os/openat2.h"
#include "sallyport/unique_fd.h"

namespace sallyport {
namespace {

constexpr std::size_t kNamesPerPass = 4096;
// Without a bound, a process that keeps adding directories would keep us here for ever.
constexpr std::uint64_t kMostDirectories = 50'000'000;

// Opens a real directory on the same mount, and makes it writable for us: a tool may have left mode 000.
Result<UniqueFd> open_directory(int parent, const std::string& name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NONBLOCK;
  int fd = openat2_beneath(parent, name.c_str(), kFlags);
  if (fd == -EACCES) {
    // NOFOLLOW: if it is a symlink by now, the mode of its target must not change.
    if (::fchmodat(parent, name.c_str(), 0700, AT_SYMLINK_NOFOLLOW) == 0) {
      fd = openat2_beneath(parent, name.c_str(), kFlags);
    }
  }
  if (fd < 0) return fail(system_error("open", name, -fd));
  UniqueFd opened(fd);
  struct stat info{};
  if (::fstat(fd, &info) != 0) return fail(system_error("stat", name, errno));
  if ((info.st_mode & 0700) != 0700 && ::fchmod(fd, 0700) != 0) {
    return fail(system_error("set the mode of", name, errno));
  }
  return opened;
}

// Empties one directory and never goes deeper than two levels: it moves each directory below the first level up into
// the top before it lists that directory. So it needs no recursion, no "..", and two descriptors for any depth.
class Flattener {
 public:
  explicit Flattener(int top) : top_(top) {}

  [[nodiscard]] Status run() {
    for (;;) {
      waiting_ = TRY(list_directory(top_, "a directory", kNamesPerPass));
      if (waiting_.empty()) return {};
      progress_ = false;
      problem_.reset();
      // Handles moved directories from memory: listing a directory that once was huge is slow even when it is empty.
      while (!waiting_.empty() && next_ < kMostDirectories) {
        const std::string name = std::move(waiting_.back());
        waiting_.pop_back();
        clear_first_level(name);
      }
      if (!progress_ && problem_) return fail(*std::move(problem_));
      if (!progress_ || next_ >= kMostDirectories) {
        return fail(system_error("empty", "a directory", ENOTEMPTY, "something keeps adding files to it"));
      }
    }
  }

 private:
  void clear_first_level(const std::string& name) {
    if (unlink_entry(top_, name, 0)) return;
    Result<UniqueFd> directory = open_directory(top_, name);
    if (!directory) return note(std::move(directory).error());
    const auto names = list_directory(directory->get(), name, kNamesPerPass);
    if (!names) return note(names.error());
    for (const std::string& inner : *names) {
      if (!unlink_entry(directory->get(), inner, 0)) move_up(directory->get(), inner);
    }
    // Ignore ENOTEMPTY after a partial pass: the next pass continues.
    static_cast<void>(unlink_entry(top_, name, AT_REMOVEDIR));
  }

  // True when the entry is done (or its error is noted); false when it is a directory.
  bool unlink_entry(int directory, const std::string& name, int flags) {
    if (::unlinkat(directory, name.c_str(), flags) == 0 || errno == ENOENT) {
      progress_ = true;
      return true;
    }
    if (errno == EISDIR) return false;
    if (errno != ENOTEMPTY && errno != EEXIST) note(system_error("remove", name, errno));
    return true;
  }

  void move_up(int directory, const std::string& name) {
    if (::unlinkat(directory, name.c_str(), AT_REMOVEDIR) == 0) {
      progress_ = true;
      return;
    }
    // Moving a directory rewrites its "..", which needs write permission on it; open_directory() sets that.
    if (Result<UniqueFd> opened = open_directory(directory, name); !opened) return note(std::move(opened).error());
    for (int attempt = 0; attempt < 64; ++attempt) {
      const std::string fresh = ".sallyport-moved-" + std::to_string(next_++);
      if (::renameat2(directory, name.c_str(), top_, fresh.c_str(), RENAME_NOREPLACE) == 0) {
        progress_ = true;
        waiting_.push_back(fresh);
        return;
      }
      if (errno != EEXIST) return note(system_error("move", name, errno));
    }
    note(system_error("move", name, EEXIST));
  }

  void note(Error error) {
    if (!problem_) problem_ = std::move(error);
  }

  int top_;
  std::vector<std::string> waiting_;  // names in the top
  std::uint64_t next_ = 0;
  bool progress_ = false;
  std::optional<Error> problem_;
};

}  // namespace

Status remove_tree_at(int parent, const std::string& name) {
  constexpr int kAttempts = 64;  // the last rmdir may race with a process that is still dying
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
    if (errno != ENOTEMPTY && errno != EEXIST) return fail(system_error("remove", name, errno));
    UniqueFd top = TRY(open_directory(parent, name));
    TRY(Flattener(top.get()).run());
  }
  return fail(system_error("remove", name, ENOTEMPTY, "something keeps adding files to it"));
}

}  // namespace sallyport
