// A private directory for one run (C16), by POSIX alone: what os/scratch.h is on Linux, for hosts with another kernel.
// Gone with the object; one whose owner was killed is removed by the next sweep.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport::posix {

class PrivateDir {
 public:
  // Mode 0700 below `root`, with an empty directory for each of `parts`. `root` must be root's or ours, and sticky when others
  // can write to it.
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

// Removes those of ours whose owner is dead. Returns how many.
std::size_t sweep_private_dirs(const std::string& root);

}  // namespace sallyport::posix
