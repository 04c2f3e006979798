#include "cli/after_run.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

namespace sallyport::cli {
namespace {

// A tool's message about its failure comes at the end.
constexpr std::size_t kLookedAt = 16 * 1024;
constexpr auto kReadOnlyWords = std::to_array<std::string_view>({"Read-only file system", "EROFS"});
constexpr auto kMissingWords = std::to_array<std::string_view>({"No such file or directory", "ENOENT", "not found"});
// The kernel's own paths, and those that every jail shows.
constexpr auto kNeverHinted = std::to_array<std::string_view>({"/proc/", "/sys/", "/dev/", "/usr/"});

bool failed(const JailedSubprocessResult& result) {
  const auto* const completed = std::get_if<Completed>(&result.outcome);
  const auto* const code = completed == nullptr ? nullptr : std::get_if<ExitCode>(&completed->fate);
  return code != nullptr && code->value != 0;
}

std::string_view end_of(const CapturedStream& stream) {
  const std::string_view bytes = stream.bytes;
  return bytes.substr(bytes.size() - std::min(bytes.size(), kLookedAt));
}

bool says_any(const JailedSubprocessResult& result, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    return end_of(result.stderr_stream).find(word) != std::string_view::npos ||
           end_of(result.stdout_stream).find(word) != std::string_view::npos;
  });
}

// git prints "could not write config file: device or resource busy", which does not say what to change.
bool is_protected_git(const CallOptions& options) {
  const bool is_protected = options.repo_access == RepoAccess::kWritable && options.git_access == GitAccess::kProtected;
  if (!is_protected || options.argv.size() < 2 || options.argv.front() != "git") return false;
  constexpr auto kWriteConfig = std::to_array<std::string_view>({"config", "remote", "submodule", "branch", "push"});
  return std::ranges::find(kWriteConfig, options.argv[1]) != kWriteConfig.end();
}

bool exists_outside(const std::string& path) {
  const bool never = std::ranges::any_of(kNeverHinted, [&](std::string_view root) { return path.starts_with(root); });
  struct stat about{};
  return !never && ::lstat(path.c_str(), &about) == 0;
}

// The first path, in a line about something missing, that exists on the host.
std::optional<std::string> hidden_path(std::string_view text) {
  constexpr std::string_view kEnds = " \t'\"`:;,()<>[]";
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const bool is_about = std::ranges::any_of(
        kMissingWords, [&](std::string_view word) { return line.find(word) != std::string_view::npos; });
    if (!is_about) continue;
    for (std::size_t at = line.find('/'); at != std::string_view::npos; at = line.find('/', at + 1)) {
      if (at > 0 && kEnds.find(line[at - 1]) == std::string_view::npos) continue;  // the middle of a word
      std::string path(line.substr(at, line.find_first_of(kEnds, at) - at));
      while (path.ends_with('.')) path.pop_back();
      if (path.size() > 1 && exists_outside(path)) return path;
      at += path.size();
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> hints_after(const CallOptions& options, const JailedSubprocessResult& result) {
  if (!failed(result)) return {};
  std::vector<std::string> hints;
  if (is_protected_git(options)) {
    hints.emplace_back("git's configuration is kept as it is in a writable repo; --writable-git opens it");
  }
  if (options.jail == JailKind::kNone) return hints;
  if (options.argv.front() == "docker") {
    hints.emplace_back(
        "docker's daemon cannot be reached from a jail; add --jail none (what docker may be asked stays closed)");
    return hints;
  }
  if (options.repo_access == RepoAccess::kReadOnly && !options.workspace && says_any(result, kReadOnlyWords)) {
    hints.emplace_back(
        "the repo is read-only in the jail; --writable-repo lets the tool write in it, --workspace NAME in a private "
        "version of it");
  }
  std::optional<std::string> hidden = hidden_path(end_of(result.stderr_stream));
  if (!hidden) hidden = hidden_path(end_of(result.stdout_stream));
  if (hidden) {
    hints.push_back(fmt::format(
        "{0} exists, but the jail does not show it; --ro {0} does, if the repo's code may read it", *hidden));
  }
  return hints;
}

}  // namespace sallyport::cli
