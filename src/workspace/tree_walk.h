// A walk through a tree that a stranger's tool has made: any depth with one descriptor, no symlink followed, no mount crossed,
// and into directories that were left without permissions.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport::workspace {

// Whether a directory that its owner may not list is given that permission while we are in it. Never to the host's own.
enum class Shut { kOpenedUp, kSkipped };

// A directory opened for reading, though its mode may forbid that to its owner. `mode` is put back by the caller.
struct OpenedDirectory {
  UniqueFd fd{};
  struct stat info{};  // as it was
  bool was_opened_up = false;
};
[[nodiscard]] Result<OpenedDirectory> open_any_directory(int parent, const std::string& name);

class TreeWalk {
 public:
  // `root` is readable; the walk lists it anew.
  explicit TreeWalk(UniqueFd root, Shut shut = Shut::kOpenedUp) : here_(std::move(root)), shut_(shut) {}
  ~TreeWalk();
  TreeWalk(const TreeWalk&) = delete;
  TreeWalk& operator=(const TreeWalk&) = delete;

  // Goes to the next entry, each directory before what it holds, names in byte order; false at the end. An error when the tree
  // changes under it in a way that makes it lose its place (ESTALE).
  [[nodiscard]] Result<bool> next();

  // Of the entry it stands at.
  [[nodiscard]] const std::string& path() const { return path_; }  // relative to the root
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const struct stat& info() const { return info_; }
  [[nodiscard]] int parent() const { return here_.get(); }            // the directory it lies in
  [[nodiscard]] std::size_t depth() const { return levels_.size(); }  // 1: in the root
  // Does not enter the directory it stands at.
  void skip() { enters_ = false; }
  // How many directories were skipped because we may not list them.
  [[nodiscard]] std::size_t skipped() const { return skipped_; }

 private:
  struct Level {
    dev_t device = 0;
    ino_t inode = 0;
    mode_t mode = 0;
    bool was_opened_up = false;
    std::vector<std::string> names{};
    std::size_t at = 0;
    std::size_t path_size = 0;  // of the directory's own path
  };
  [[nodiscard]] Status list_here(const struct stat& info, bool was_opened_up);
  [[nodiscard]] Status descend();
  [[nodiscard]] Status ascend();

  UniqueFd here_;
  const Shut shut_;
  std::vector<Level> levels_;
  std::string path_;
  std::string name_;
  struct stat info_{};
  std::size_t skipped_ = 0;
  bool begun_ = false;
  bool enters_ = false;
};

}  // namespace sallyport::workspace
