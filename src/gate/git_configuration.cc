#include "gate/git_configuration.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include "core/errors.h"
#include "core/text/printable.h"
#include "core/view/paths.h"
#include "os/file.h"
#include "os/openat2.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

constexpr ByteCount kLongestConfiguration{1024 * 1024};
constexpr ByteCount kLongestIndexListing = mebibytes(64);
constexpr std::uint64_t kLargestIndexRead = 64ULL * 1024 * 1024;
constexpr std::size_t kMostSubmodules = 1000;

Error configuration_unknown(std::string_view why) {
  return invalid_request("git configuration", why, "see what `git config --list` says in the repo");
}

// The caller's spec with another command. What could change which repo git finds stays as it is.
JailedSubprocessSpec question_spec(const JailedSubprocessSpec& spec, std::vector<std::string> argv, ByteCount output) {
  JailedSubprocessSpec question = spec;
  question.argv = std::move(argv);
  question.stdin_source = NullStdin{};
  question.allowed_hosts.clear();
  std::erase(question.required, Guarantee::kNetEgressAllowlist);  // the call's own; the question has no network at all
  question.registry_credentials.reset();
  question.allowed_egress.clear();
  question.strict_network = false;
  question.limits.output = output;
  question.tap = nullptr;
  return question;
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

// Git's stderr holds a trace that starts with the version, and perhaps an error message. Returns that message.
std::string complaint_in(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = first_line(text);
    if (line.starts_with("fatal: ") || line.starts_with("error: ")) return std::string(line.substr(7));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return "git gives no reason";
}

class Learner {
 public:
  Learner(const JailedSubprocessSpec& spec, const AskGit& ask) : spec_(spec), ask_(ask) {}

  [[nodiscard]] Result<GitLearnt> learn(const GitQuestion& question);

 private:
  // The answer's stdout; nullopt when the call has ended, see learnt_.ended.
  [[nodiscard]] Result<std::optional<std::string>> answer(const fs::path& cwd, std::vector<std::string> argv,
                                                          ByteCount longest);
  // nullopt outside a repo, or when the call has ended.
  [[nodiscard]] Result<std::optional<fs::path>> work_tree_from(const fs::path& start);
  [[nodiscard]] Status list(const fs::path& cwd, std::vector<std::string> argv, std::vector<GitEntry>& entries);
  // Lists those in the index that git finds from `cwd`; their paths are relative to the work tree.
  [[nodiscard]] Status list_submodules_of(const fs::path& work_tree, const fs::path& cwd, std::vector<std::string> argv,
                                          std::size_t depth);
  [[nodiscard]] Status list_submodule(const fs::path& place, std::size_t depth);

  const JailedSubprocessSpec& spec_;
  const AskGit& ask_;
  GitLearnt learnt_;
  std::string git_;  // the name it is allowed by
  std::vector<GitEntry> of_submodules_;
  std::size_t submodules_ = 0;
};

// Every directory with a .git, from `place` up to the repo. git takes the first one whose .git is sound.
std::vector<fs::path> places_with_git(fs::path place, const fs::path& repo) {
  std::vector<fs::path> found;
  while (is_inside(place, repo)) {
    struct stat entry{};
    if (::lstat((place / ".git").c_str(), &entry) == 0) found.push_back(place);
    if (place == repo) break;
    place = place.parent_path();
  }
  return found;
}

// True when the index may hold a submodule. In each version of the format every entry has its mode as four bytes
// (gitformat-index(5)); a submodule's is 0160000. Without these bytes there is no submodule, with them there may be
// one.
bool may_hold_submodules(const fs::path& work_tree) {
  const Result<UniqueFd> directory = open_exactly(work_tree, O_PATH | O_DIRECTORY);
  if (!directory) return true;
  const int opened = openat2_beneath(directory->get(), ".git/index", O_RDONLY | O_NONBLOCK | O_NOCTTY);
  // No index, no entries. If .git is a file, or a symlink is on the way, let git follow it.
  if (opened == -ENOENT) return false;
  if (opened < 0) return true;
  const UniqueFd index(opened);
  struct stat file{};
  if (::fstat(index.get(), &file) != 0 || !S_ISREG(file.st_mode)) return true;
  if (std::cmp_greater(file.st_size, kLargestIndexRead)) return true;
  std::string bytes(static_cast<std::size_t>(file.st_size), '\0');
  const ssize_t got = ::pread(index.get(), bytes.data(), bytes.size(), 0);
  if (got < 0 || std::cmp_not_equal(got, bytes.size())) return true;
  constexpr std::string_view kMode("\0\0\xe0\0", 4);
  // Extensions by which entries are in another file ("link") or in a tree ("sdir").
  return bytes.find(kMode) != std::string::npos || bytes.find("link") != std::string::npos ||
         bytes.find("sdir") != std::string::npos;
}

// The paths of `git ls-files -s -o -z` that are repos: "160000 HASH 0\tPATH\0", or "PATH/\0" when it is not tracked.
std::vector<std::string> submodules_in(std::string_view listing) {
  std::vector<std::string> paths;
  while (!listing.empty()) {
    const std::string_view entry = listing.substr(0, listing.find('\0'));
    const std::size_t tab = entry.find('\t');
    if (entry.starts_with("160000 ") && tab != std::string_view::npos) paths.emplace_back(entry.substr(tab + 1));
    if (entry.ends_with('/')) paths.emplace_back(entry.substr(0, entry.size() - 1));
    listing.remove_prefix(std::min(entry.size() + 1, listing.size()));
  }
  const auto repeated = std::ranges::unique(paths);  // the stages of a conflict are adjacent
  paths.erase(repeated.begin(), repeated.end());
  return paths;
}

Result<std::optional<std::string>> Learner::answer(const fs::path& cwd, std::vector<std::string> argv,
                                                   ByteCount longest) {
  JailedSubprocessSpec question = question_spec(spec_, std::move(argv), longest);
  question.cwd = cwd;
  JailedSubprocessResult result = TRY(ask_(question));
  const auto* completed = std::get_if<Completed>(&result.outcome);
  if (completed == nullptr) {
    result.stdout_stream = {};
    result.stderr_stream = {};
    learnt_.ended = std::move(result);
    return std::nullopt;
  }
  const auto* code = std::get_if<ExitCode>(&completed->fate);
  if (code == nullptr || code->value != 0) {
    return fail(configuration_unknown(
        fmt::format("git cannot list it: {}", printable(complaint_in(result.stderr_stream.bytes)))));
  }
  if (result.stdout_stream.truncated) return fail(configuration_unknown("git's list of it is too long"));
  constexpr std::string_view kVersion = "version ";
  const std::string_view said = first_line(result.stderr_stream.bytes);
  if (said.starts_with(kVersion)) learnt_.version = said.substr(kVersion.size());
  return std::move(result.stdout_stream.bytes);
}

Status Learner::list(const fs::path& cwd, std::vector<std::string> argv, std::vector<GitEntry>& entries) {
  const std::optional<std::string> listing = TRY(answer(cwd, std::move(argv), kLongestConfiguration));
  if (!listing) return {};
  std::vector<GitEntry> listed = TRY(hardening::parse_git_listing(*listing));
  std::ranges::move(listed, std::back_inserter(entries));
  return {};
}

Status Learner::list_submodule(const fs::path& place, std::size_t depth) {
  // git does not enter a submodule through a symlink, nor one that is not checked out.
  std::error_code error;
  if (fs::canonical(place, error) != place || error || !fs::exists(fs::symlink_status(place / ".git", error)))
    return {};
  submodules_ += 1;
  if (submodules_ > kMostSubmodules) return fail(configuration_unknown("it has too many submodules"));
  TRY(list(place, {git_, "config", "--list", "-z"}, of_submodules_));
  if (learnt_.ended || !may_hold_submodules(place)) return {};
  return list_submodules_of(place, place, {git_, "ls-files", "-s", "-z"}, depth + 1);
}

Status Learner::list_submodules_of(const fs::path& work_tree, const fs::path& cwd, std::vector<std::string> argv,
                                   std::size_t depth) {
  constexpr std::size_t kDeepest = 32;
  if (depth > kDeepest) return fail(configuration_unknown("its submodules are nested too deeply"));
  const std::optional<std::string> listing = TRY(answer(cwd, std::move(argv), kLongestIndexListing));
  if (!listing) return {};
  for (const std::string& path : submodules_in(*listing)) {
    TRY(list_submodule(work_tree / path, depth));
    if (learnt_.ended) return {};
  }
  return {};
}

Result<std::optional<fs::path>> Learner::work_tree_from(const fs::path& start) {
  const std::vector<fs::path> places = places_with_git(start, spec_.repo);
  if (places.empty()) return std::nullopt;
  if (places.size() == 1) return places.front();
  std::optional<std::string> top = TRY(answer(start, {git_, "rev-parse", "--show-toplevel"}, kLongestConfiguration));
  if (!top) return std::nullopt;
  if (top->ends_with('\n')) top->pop_back();
  const auto named = std::ranges::find(places, *top, &fs::path::native);
  if (named != places.end()) return *named;
  return fail(invalid_request("git configuration", "its work tree lies elsewhere",
                              "take core.worktree out of the repo's configuration"));
}

Result<GitLearnt> Learner::learn(const GitQuestion& question) {
  git_ = question.argv.front();
  std::vector<GitEntry> listed;
  TRY(list(spec_.cwd, question.argv, listed));
  if (learnt_.ended) return std::move(learnt_);
  std::error_code error;
  const fs::path start = fs::canonical(spec_.cwd / question.directory, error);
  if (error || !is_inside(start, spec_.repo)) {
    return fail(invalid_request("argv", "the directory that -C names is not one inside the repo",
                                "choose the working directory in the request instead"));
  }
  const bool chosen = question.names_git_dir || !question.work_tree.empty();
  const std::optional<fs::path> found =
      chosen ? std::optional((start / question.work_tree).lexically_normal()) : TRY(work_tree_from(start));
  if (learnt_.ended) return std::move(learnt_);
  if (hardening::moves_work_tree(listed) && question.work_tree.empty()) {
    if (!found || question.names_git_dir) {
      return fail(invalid_request("git configuration", "core.worktree moves the work tree elsewhere",
                                  "name the work tree with --work-tree, or take the key out of the configuration"));
    }
    learnt_.configuration.work_tree = found->native();
  }
  const bool may_enter = chosen || question.changes_index || (found && may_hold_submodules(*found));
  if (question.enters_submodules && found && may_enter) {
    // Unless the caller chose a git directory, ask at the top of the work tree: git lists the index from the cwd
    // downwards.
    std::vector<std::string> argv = {git_};
    if (chosen) argv.assign(question.argv.begin(), question.argv.end() - 3);
    argv.insert(argv.end(), {"ls-files", "-s", "-z"});
    // A checkout can turn a repo that is already in the work tree into a submodule.
    if (question.changes_index) argv.emplace_back("-o");
    TRY(list_submodules_of(*found, chosen ? spec_.cwd : *found, std::move(argv), 0));
  }
  std::ranges::move(of_submodules_, std::back_inserter(listed));
  learnt_.configuration.skip_lists = hardening::skip_lists_in(listed);
  learnt_.configuration.overrides = TRY(hardening::git_overrides(listed));
  return std::move(learnt_);
}

}  // namespace

Result<GitLearnt> learn_git_configuration(const GitQuestion& question, const JailedSubprocessSpec& spec,
                                          const AskGit& ask) {
  return Learner(spec, ask).learn(question);
}

std::vector<EnvVar> git_version_env() {
  return {{.name = "GIT_TRACE2", .value = "2"}, {.name = "GIT_TRACE2_BRIEF", .value = "1"}};
}

bool is_newer_than_known_git(std::string_view version) {
  const auto parts = [](std::string_view text) {
    std::array<unsigned, 2> numbers{};
    const std::size_t dot = std::min(text.find('.'), text.size());
    std::from_chars(text.data(), text.data() + dot, numbers[0]);
    if (dot < text.size()) std::from_chars(text.data() + dot + 1, text.data() + text.size(), numbers[1]);
    return numbers;
  };
  return parts(version) > parts(kNewestKnownGit);
}

}  // namespace sallyport
