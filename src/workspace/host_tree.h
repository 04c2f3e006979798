// Writing into the host's directory: strictly beneath it, through no symlink and across no mount, each file at once (C27).
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

// Which file stood somewhere at some time.
struct Stood {
  std::uint64_t inode = 0;
  std::int64_t ctime_ns = 0;
  bool operator==(const Stood&) const = default;
};

class HostTree {
 public:
  // `root` is borrowed. What is made becomes `owner`'s, when that is not us.
  explicit HostTree(int root, std::optional<UserIds> owner = std::nullopt) : root_(root), owner_(owner) {}

  // nullopt: nothing is there. An error when the way there leads through something that is no directory.
  [[nodiscard]] Result<std::optional<struct stat>> look(const std::string& path) const;
  // Replaces whatever plain file or symlink stands there; with `must_be_new` nothing may.
  [[nodiscard]] Status put_file(const std::string& path, int content, mode_t mode, bool must_be_new) const;
  [[nodiscard]] Status put_symlink(const std::string& path, const std::string& text, bool must_be_new) const;
  // Fine when it is one already; its mode is set.
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
