#include "audit/repo_commit.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>

#include "os/file.h"
#include "os/openat2.h"
#include "sallyport/unique_fd.h"

namespace sallyport::audit {
namespace {

constexpr ByteCount kSmall{4096};
constexpr ByteCount kPackedRefs = mebibytes(1);

std::optional<std::string> read_beneath(int root, const std::string& path, ByteCount cap) {
  const UniqueFd fd(openat2_beneath(root, path.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK));
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

std::optional<std::string> packed(int root, std::string_view reference) {
  const std::optional<std::string> text = read_beneath(root, ".git/packed-refs", kPackedRefs);
  if (!text) return std::nullopt;
  const std::string wanted = " " + std::string(reference) + "\n";
  const std::size_t at = text->find(wanted);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t line = text->rfind('\n', at);
  const std::size_t begin = line == std::string::npos ? 0 : line + 1;
  return as_commit(std::string_view(*text).substr(begin, at - begin));
}

}  // namespace

std::optional<std::string> repo_commit(const std::filesystem::path& repo) {
  constexpr std::string_view kReference = "ref: ";
  const Result<UniqueFd> root = open_path(repo, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (!root) return std::nullopt;
  const std::optional<std::string> head = read_beneath(root->get(), ".git/HEAD", kSmall);
  if (!head) return std::nullopt;
  if (!head->starts_with(kReference)) return as_commit(*head);
  std::string reference = head->substr(kReference.size());
  while (!reference.empty() && (reference.back() == '\n' || reference.back() == ' ')) reference.pop_back();
  // openat2(2) refuses what leaves the repo; a NUL would only shorten the name.
  if (!reference.starts_with("refs/") || reference.find('\0') != std::string::npos) return std::nullopt;
  const std::optional<std::string> loose = read_beneath(root->get(), ".git/" + reference, kSmall);
  return loose ? as_commit(*loose) : packed(root->get(), reference);
}

}  // namespace sallyport::audit
