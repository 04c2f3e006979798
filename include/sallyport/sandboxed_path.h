// Opens strictly beneath a root and follows no symlink, for every file the parent reads back (C27).
//
//   SandboxedPath root = SALLYPORT_TRY(SandboxedPath::open_root("/repo"));
//   std::string text = SALLYPORT_TRY(root.read_file("out/report.json", mebibytes(8)));
//
// A symlink anywhere below the root is ELOOP; "..", absolute paths and mount crossings are EXDEV; a FIFO, device or
// socket is refused without being opened for reading; a file larger than the cap is refused before it is read.
//
// What the kernel refuses is a SystemError, whose error_number says which of these it was; what is refused by its name, kind or
// size is an InvalidRequest. The rule: docs/contract.md, C27.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "sallyport/limits.h"
#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

class SandboxedPath {
 public:
  [[nodiscard]] static Result<SandboxedPath> open_root(const std::filesystem::path& root);
  // Takes ownership of a descriptor of the root directory.
  [[nodiscard]] static SandboxedPath from_fd(UniqueFd root) { return SandboxedPath(std::move(root)); }

  // Opens a regular file, read-only and CLOEXEC.
  [[nodiscard]] Result<UniqueFd> open_file(const std::filesystem::path& relative) const;
  // The file's whole content, or an InvalidRequest error when it is larger than `cap`.
  [[nodiscard]] Result<std::string> read_file(const std::filesystem::path& relative, ByteCount cap) const;

  [[nodiscard]] int root_fd() const { return root_.get(); }

 private:
  explicit SandboxedPath(UniqueFd root) : root_(std::move(root)) {}
  UniqueFd root_;
};

}  // namespace sallyport
