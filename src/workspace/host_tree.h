// Writes into the host's directory: strictly beneath it, through no symlink and across no mount, each file atomically
// (C27).
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

#include "sallyport/plan.h"
#include "sallyport/result.h"
#include "sallyport/unique_fd.h"
#include "sallyport/workspace.h"

namespace sallyport::workspace {

// The identity of a file at a path at some time.
struct Stood {
  std::uint64_t inode = 0;
  std::int64_t ctime_ns = 0;
  bool operator==(const Stood&) const = default;
};

class HostTree {
 public:
  // Borrows `root`. New entries belong to `owner`, if set.
  explicit HostTree(int root, std::optional<UserIds> owner = std::nullopt) : root_(root), owner_(owner) {}

  // nullopt: nothing is there. An error when a component of the path is no directory.
  [[nodiscard]] Result<std::optional<struct stat>> look(const std::string& path) const;
  // Replaces a plain file or symlink; with `must_be_new` nothing may exist there.
  [[nodiscard]] Status put_file(const std::string& path, int content, mode_t mode, bool must_be_new) const;
  [[nodiscard]] Status put_symlink(const std::string& path, const std::string& text, bool must_be_new) const;
  // Succeeds if the directory exists, and sets its mode.
  [[nodiscard]] Status put_directory(const std::string& path, mode_t mode) const;
  // A directory must be empty.
  [[nodiscard]] Status remove(const std::string& path) const;

 private:
  struct Place {
    UniqueFd parent{};
    std::string name{};
  };
  [[nodiscard]] Result<Place> place(const std::string& path, bool make_parents) const;

  int root_;
  std::optional<UserIds> owner_;
};

}  // namespace sallyport::workspace
