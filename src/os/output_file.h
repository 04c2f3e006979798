// A file that a person asked for (a receipt, a report): its place is settled before a stranger's code runs, and it is written
// after that. Whatever the stranger shipped or moved meanwhile, the bytes end up in the directory the person named.
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
  // InvalidRequest, with `field`, when the directory is not there, when a symlink inside one of `strangers` (canonical
  // directories) leads to it, and when something other than a regular file has the name: a device, /dev/stdout, a symlink.
  [[nodiscard]] static Result<OutputFile> settle(std::string_view field, const std::filesystem::path& path,
                                                 std::span<const std::filesystem::path> strangers);
  // The whole file or the old one, in the directory that was settled. What a run has put at the name is replaced, not followed.
  [[nodiscard]] Status replace(std::string_view bytes) const;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  OutputFile(UniqueFd directory, std::filesystem::path path)
      : directory_(std::move(directory)), path_(std::move(path)) {}

  UniqueFd directory_;
  std::filesystem::path path_;  // as it was named
};

}  // namespace sallyport
