// A file that a person asked for (a receipt, a report): we open its directory before untrusted code runs, and write the
// file afterwards. Whatever that code contains or moves meanwhile, the bytes end up in the directory that the person
// named.
//
//   const OutputFile receipt = TRY(OutputFile::settle("receipt", path, {repo}));
//   ... the run ...
//   TRY(receipt.replace(text));
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

class OutputFile {
 public:
  // InvalidRequest, with `field`, when the directory does not exist, when a symlink inside one of `strangers`
  // (untrusted directories, canonical) leads to it, and when the name belongs to something other than a regular file: a
  // device, /dev/stdout, a symlink.
  [[nodiscard]] static Result<OutputFile> settle(std::string_view field, const std::filesystem::path& path,
                                                 std::span<const std::filesystem::path> strangers);
  // Writes the whole file, or keeps the old one, in the directory from settle(). Replaces what a run has put at the
  // name, and follows no symlink there.
  [[nodiscard]] Status replace(std::string_view bytes) const;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  OutputFile(UniqueFd directory, std::filesystem::path path)
      : directory_(std::move(directory)), path_(std::move(path)) {}

  UniqueFd directory_;
  std::filesystem::path path_;  // as the person wrote it
};

}  // namespace sallyport
