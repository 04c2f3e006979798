#include "gate/repo_commit.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "gate/linked_git.h"
#include "os/canonical.h"
#include "os/file.h"
#include "os/openat2.h"
#include "sallyport/unique_fd.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

constexpr ByteCount kSmall{4096};
constexpr ByteCount kPackedRefs = mebibytes(1);

struct GitDirectories {
  UniqueFd own;       // with HEAD
  UniqueFd common{};  // has the branches; set for a linked worktree, else `own` has them
  [[nodiscard]] const UniqueFd& branches() const { return common ? common : own; }
};

std::optional<GitDirectories> opened(const GitPlace& place) {
  Result<UniqueFd> own = open_exactly(place.own, O_PATH | O_DIRECTORY);
  Result<UniqueFd> common = open_exactly(place.common, O_PATH | O_DIRECTORY);
  if (!own || !common) return std::nullopt;
  return GitDirectories{.own = *std::move(own), .common = *std::move(common)};
}

std::optional<GitDirectories> git_directories(const fs::path& repo) {
  const Result<UniqueFd> root = open_path(repo, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (!root) return std::nullopt;
  if (UniqueFd git(openat2_beneath(root->get(), ".git", O_PATH | O_DIRECTORY)); git) {
    return GitDirectories{.own = std::move(git)};
  }
  const Result<fs::path> canonical = canonical_existing(repo, "repo");
  const LinkedGit linked = canonical ? find_linked_git(*canonical) : LinkedGit{};
  return linked.place ? opened(*linked.place) : std::nullopt;
}

std::optional<std::string> read_beneath(const UniqueFd& root, const std::string& path, ByteCount cap) {
  const UniqueFd fd(openat2_beneath(root.get(), path.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK));
  struct stat info{};
  if (fd.get() < 0 || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  Result<std::string> text = read_all(fd.get(), cap, path);
  if (!text) return std::nullopt;
  return *std::move(text);
}

std::optional<std::string> as_commit(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  const bool is_hash = (text.size() == 40 || text.size() == 64) && std::ranges::all_of(text, [](char c) {
                         return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                       });
  if (!is_hash) return std::nullopt;
  return std::string(text);
}

std::optional<std::string> packed(const UniqueFd& common, std::string_view reference) {
  const std::optional<std::string> text = read_beneath(common, "packed-refs", kPackedRefs);
  if (!text) return std::nullopt;
  const std::string wanted = " " + std::string(reference) + "\n";
  const std::size_t at = text->find(wanted);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t line = text->rfind('\n', at);
  const std::size_t begin = line == std::string::npos ? 0 : line + 1;
  return as_commit(std::string_view(*text).substr(begin, at - begin));
}

}  // namespace

std::optional<std::string> repo_commit(const fs::path& repo) {
  constexpr std::string_view kReference = "ref: ";
  const std::optional<GitDirectories> git = git_directories(repo);
  const std::optional<std::string> head = git ? read_beneath(git->own, "HEAD", kSmall) : std::nullopt;
  if (!head) return std::nullopt;
  if (!head->starts_with(kReference)) return as_commit(*head);
  std::string reference = head->substr(kReference.size());
  while (!reference.empty() && (reference.back() == '\n' || reference.back() == ' ')) reference.pop_back();
  // openat2(2) refuses a path out of the git directory; a NUL would cut the name short.
  if (!reference.starts_with("refs/") || reference.find('\0') != std::string::npos) return std::nullopt;
  const std::optional<std::string> loose = read_beneath(git->branches(), reference, kSmall);
  return loose ? as_commit(*loose) : packed(git->branches(), reference);
}

}  // namespace sallyport
