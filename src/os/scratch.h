// A private directory for one run (C16).
//
//   ScratchDir scratch = TRY(ScratchDir::create("/tmp"));
//   ... scratch.path() ...
//                                       // the destructor removes it; TRY(scratch.remove()) also reports failures
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

class ScratchDir {
 public:
  // Mode 0700, under `root`, which must belong to us or to root and, when others can write to it, be sticky like /tmp.
  // A full disk or a read-only root is a SystemError with a hint.
  [[nodiscard]] static Result<ScratchDir> create(const std::filesystem::path& root);

  ScratchDir(ScratchDir&&) noexcept = default;
  ScratchDir& operator=(ScratchDir&& other) noexcept;
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;
  ~ScratchDir();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] int fd() const { return lock_.get(); }  // the directory; holds the lock that shows that we are alive

  // Idempotent. After an error the directory counts as stale once this object is gone, and a later sweep removes it.
  [[nodiscard]] Status remove();

 private:
  ScratchDir(UniqueFd root, UniqueFd lock, std::string name, std::filesystem::path path)
      : root_(std::move(root)), lock_(std::move(lock)), name_(std::move(name)), path_(std::move(path)) {}

  UniqueFd root_;
  UniqueFd lock_;
  std::string name_;
  std::filesystem::path path_;
};

// Removes the scratch directories under `root` whose owner was killed before it could; never a live one, never one of
// another user. Returns how many it removed. Call it once at start-up.
[[nodiscard]] Result<std::size_t> sweep_stale_scratch(const std::filesystem::path& root);

// A file of this name in a scratch directory means that something outside belongs to it: a container. The sweep above
// skips such a directory. This one first calls `release` with the directory and its name, and keeps the directory when
// that fails.
inline constexpr const char* kHeldElsewhere = "held-elsewhere";
[[nodiscard]] Result<std::size_t> sweep_stale_scratch(
    const std::filesystem::path& root, const std::function<Status(int directory, const std::string& name)>& release);

}  // namespace sallyport
