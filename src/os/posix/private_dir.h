// A private directory for one run (C16), by POSIX alone: the counterpart of os/scratch.h for hosts with another kernel.
// The destructor removes it; the next sweep removes one whose owner was killed.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport::posix {

class PrivateDir {
 public:
  // Mode 0700 below `root`, with an empty directory for each of `parts`. `root` must belong to root or to us, and be
  // sticky when others can write to it.
  [[nodiscard]] static Result<PrivateDir> create(const std::string& root, std::initializer_list<const char*> parts);

  PrivateDir(PrivateDir&&) noexcept = default;
  PrivateDir& operator=(PrivateDir&&) = delete;
  PrivateDir(const PrivateDir&) = delete;
  PrivateDir& operator=(const PrivateDir&) = delete;
  ~PrivateDir();

  [[nodiscard]] std::string path() const { return root_ + "/" + name_; }

 private:
  PrivateDir(UniqueFd parent, std::string root, std::string name)
      : parent_(std::move(parent)), root_(std::move(root)), name_(std::move(name)) {}

  UniqueFd parent_;
  UniqueFd lock_;  // held while we live
  std::string root_;
  std::string name_;
};

// Removes our user's directories whose owner process is dead. Returns how many.
std::size_t sweep_private_dirs(const std::string& root);

}  // namespace sallyport::posix
