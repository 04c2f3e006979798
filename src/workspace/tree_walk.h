// Walks a tree that an untrusted tool has made: any depth with one descriptor, follows no symlink, crosses no mount,
// and enters directories that were left without permissions.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport::workspace {

// What to do with a directory that its owner may not list: give that permission while we are in it, or skip it. Always
// skip in the host's own tree.
enum class Shut { kOpenedUp, kSkipped };

// A directory opened for reading, even if its mode forbids that. The caller restores the mode.
struct OpenedDirectory {
  UniqueFd fd{};
  struct stat info{};  // as it was
  bool was_opened_up = false;
};
[[nodiscard]] Result<OpenedDirectory> open_any_directory(int parent, const std::string& name);

class TreeWalk {
 public:
  // `root` must be readable; the walk lists it from the start.
  explicit TreeWalk(UniqueFd root, Shut shut = Shut::kOpenedUp) : here_(std::move(root)), shut_(shut) {}
  ~TreeWalk();
  TreeWalk(const TreeWalk&) = delete;
  TreeWalk& operator=(const TreeWalk&) = delete;

  // Goes to the next entry, each directory before its content, names in byte order; false at the end. An error when the
  // tree changes so that the walk loses its place (ESTALE).
  [[nodiscard]] Result<bool> next();

  // About the current entry.
  [[nodiscard]] const std::string& path() const { return path_; }  // relative to the root
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const struct stat& info() const { return info_; }
  [[nodiscard]] int parent() const { return here_.get(); }            // the directory it lies in
  [[nodiscard]] std::size_t depth() const { return levels_.size(); }  // 1: in the root
  // Does not enter the current directory.
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
  bool started_ = false;
  bool enters_ = false;
};

}  // namespace sallyport::workspace
