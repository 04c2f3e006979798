// The tarballs that earlier validations fetched, one store for each user, named by their SHA-512 as npm's own cache names
// content. It accepts only content whose hash is a name from a lock file; npm's index, which no hash protects, never
// enters (ADR 0063).
//
// A run never sees the store. It gets a view with exactly what its lock file names, as the lower layer of a workspace: so it
// can neither change the store nor learn from it which other packages this user has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sallyport/result.h"
#include "sallyport/sandboxed_path.h"

namespace sallyport::jobs {

// A view file's identity when seed() put it there: npm replaces a damaged file.
struct SeededFile {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  bool operator==(const SeededFile&) const = default;
};
using SeededFiles = std::map<std::string, SeededFile>;  // by SHA-512

struct Promotion {
  std::size_t added = 0;
  std::vector<std::string> rejected{};  // SHA-512 that the content named so does not have
  std::string problem{};                // why not everything could be written; empty: it was
};

// The user that will read a view: root runs a jailed tool as the repo's owner (ADR 0066).
struct ViewReader {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};

class NpmCache {
 public:
  // Makes the directory, with mode 0700, when it is missing. InvalidRequest when it is not ours alone.
  [[nodiscard]] static Result<NpmCache> open(const std::filesystem::path& directory);

  // Puts what the store has of `digests` into `view`, as npm's cache has it: by hard link, or as a copy on another file
  // system or for another user as reader, who then owns the view. Write nothing there afterwards.
  [[nodiscard]] Result<SeededFiles> seed(std::span<const std::string> digests, const std::filesystem::path& view,
                                         const std::optional<ViewReader>& reader = {}) const;

  // Opens a plain file below npm's cache as the run has left it, following no symlink.
  using Opener = std::function<Result<UniqueFd>(const std::filesystem::path& relative)>;
  // Adds the files of `digests` that npm has fetched. It hashes each file while copying and then renames it atomically:
  // a killed process leaves nothing under a final name.
  [[nodiscard]] Promotion promote(std::span<const std::string> digests, const SeededFiles& seeded,
                                  const Opener& open_left) const;

 private:
  NpmCache(std::filesystem::path directory, SandboxedPath root)
      : directory_(std::move(directory)), root_(std::move(root)) {}
  std::filesystem::path directory_;
  SandboxedPath root_;
};

}  // namespace sallyport::jobs
