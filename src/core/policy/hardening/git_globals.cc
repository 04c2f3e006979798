#include "core/policy/hardening/git_globals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/policy/hardening/options.h"

namespace sallyport::hardening {
namespace {

constexpr auto kGlobalFlags = std::to_array<std::string_view>(
    {"--no-pager", "-P", "--bare", "--no-replace-objects", "--literal-pathspecs", "--glob-pathspecs",
     "--noglob-pathspecs", "--icase-pathspecs", "--no-optional-locks", "--no-advice"});

// These come after the gate's own settings and override them, so git must only print, compare or store each value: no
// program, no file, no path. For a key that the gate pins, the caller may only repeat the pinned value.
constexpr auto kCallerKeys = std::to_array<GitCallerKey>({
    {"user.name", ""},
    {"user.email", ""},
    {"author.name", ""},
    {"author.email", ""},
    {"committer.name", ""},
    {"committer.email", ""},
    {"core.quotepath", ""},
    {"core.abbrev", ""},
    {"core.autocrlf", ""},
    {"core.eol", ""},
    {"core.safecrlf", ""},
    {"core.filemode", ""},
    {"core.ignorecase", ""},
    {"core.precomposeunicode", ""},
    {"core.whitespace", ""},
    {"core.longpaths", ""},
    {"core.fsmonitor", "false"},
    {"core.hookspath", "/dev/null"},
    {"core.pager", "cat"},
    {"core.editor", ":"},
    {"color.interactive", "false"},
    {"color.*", ""},
    {"column.*", ""},
    {"advice.*", ""},
    {"i18n.*", ""},
    {"diff.algorithm", ""},
    {"diff.renames", ""},
    {"diff.renamelimit", ""},
    {"diff.context", ""},
    {"diff.interhunkcontext", ""},
    {"diff.noprefix", ""},
    {"diff.mnemonicprefix", ""},
    {"diff.relative", ""},
    {"diff.colormoved", ""},
    {"diff.colormovedws", ""},
    {"diff.indentheuristic", ""},
    {"diff.wordregex", ""},
    {"diff.ignoresubmodules", ""},
    {"log.abbrevcommit", ""},
    {"log.date", ""},
    {"log.decorate", ""},
    {"log.follow", ""},
    {"log.mailmap", ""},
    {"log.showroot", ""},
    {"log.showsignature", "false"},
    {"format.pretty", ""},
    {"blame.date", ""},
    {"grep.linenumber", ""},
    {"grep.column", ""},
    {"grep.patterntype", ""},
    {"grep.extendedregexp", ""},
    {"grep.fullname", ""},
    {"status.showuntrackedfiles", ""},
    {"status.short", ""},
    {"status.branch", ""},
    {"status.relativepaths", ""},
    {"status.renames", ""},
    {"merge.conflictstyle", ""},
    {"merge.ff", ""},
    {"merge.renames", ""},
    {"pull.rebase", ""},
    {"pull.ff", ""},
    {"branch.sort", ""},
    {"tag.sort", ""},
    {"versionsort.suffix", ""},
    {"init.defaultbranch", ""},
    {"commit.gpgsign", "false"},
    {"tag.gpgsign", "false"},
    {"gc.auto", "0"},
    {"submodule.recurse", "false"},
    {"protocol.version", ""},
    {"safe.directory", ""},
});

// The operator decides whose signatures to trust, never a file of the repo.
constexpr std::string_view kSigners = "gpg.ssh.allowedsignersfile";

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

// "color.diff.meta" is one of "color.*": the middle of a key never names a program.
bool matches_key(std::string_view pattern, std::string_view key) {
  if (!pattern.ends_with(".*")) return pattern == key;
  return key.starts_with(pattern.substr(0, pattern.size() - 1));
}

class GitGlobalsReader {
 public:
  explicit GitGlobalsReader(Argv arguments) : arguments_(arguments) {}

  Result<GitGlobals> read() {
    while (at_ < arguments_.size() && is_option(arguments_[at_])) TRY(read_one());
    out_.count = std::min(at_, arguments_.size());
    return std::move(out_);
  }

 private:
  Status read_one() {
    const std::string& argument = arguments_[at_];
    const LongOption option = split_long(argument);
    at_ += 1;
    if (std::ranges::find(kGlobalFlags, argument) != kGlobalFlags.end()) {
      if (argument == "--bare") out_.names_git_dir = true;
      return {};
    }
    if (argument == "-C") {
      out_.directory /= TRY(next_word(argument, "a directory"));
      return add_place(argument, out_.directory);
    }
    if (argument == "-c") return check_setting(TRY(next_word(argument, "KEY=VALUE")));
    if (option.name != "--git-dir" && option.name != "--work-tree") {
      return fail(refused_argument("git", argument, "not one of the options known to be harmless before the command",
                                   "leave it out; the gate sets git's configuration itself"));
    }
    const std::string_view place = option.has_value ? option.value : TRY(next_word(argument, "a directory"));
    if (place.empty()) return fail(refused_argument("git", argument, "it names no directory", "name one in the repo"));
    if (option.name == "--git-dir") out_.names_git_dir = true;
    if (option.name == "--work-tree") out_.work_tree = place;
    return add_place(option.name, out_.directory / place);
  }

  Result<std::string_view> next_word(std::string_view option, std::string_view what) {
    if (at_ >= arguments_.size() || arguments_[at_].empty()) {
      return fail(refused_argument("git", option, "its value is missing", fmt::format("give it {}", what)));
    }
    return std::string_view(arguments_[at_++]);
  }

  Status add_place(std::string_view option, const std::filesystem::path& place) {
    out_.files.push_back({.kind = FileRule::Kind::kInsideRepo,
                          .path = place.native(),
                          .what = fmt::format("git {}", option),
                          .hint = "name a directory inside the repo, or another repo with `repo`"});
    return {};
  }

  Status check_setting(std::string_view setting) {
    const LongOption parts = split_long(setting);
    const std::string key = lower(parts.name);
    if (key == kSigners && parts.has_value) {
      out_.files.push_back({.kind = FileRule::Kind::kOutsideRepo,
                            .path = std::string(parts.value),
                            .what = "git -c gpg.ssh.allowedSignersFile",
                            .hint = "name a file of your own, and show it with `extra_read_only`"});
      return {};
    }
    // The first match decides: a pinned key comes before its family.
    const auto* const known =
        std::ranges::find_if(kCallerKeys, [&](const GitCallerKey& caller) { return matches_key(caller.key, key); });
    if (known == kCallerKeys.end()) {
      return fail(refused_argument("git -c", setting, "not one of the keys known to be harmless",
                                   "leave it out; see what may be set: docs/hardening.md on git"));
    }
    if (known->value.empty() || parts.value == known->value) return {};
    return fail(refused_argument("git -c", setting, "it is set by the gate, and could start a program",
                                 fmt::format("leave it out, or write {}={}", parts.name, known->value)));
  }

  Argv arguments_;
  std::size_t at_ = 0;
  GitGlobals out_;
};

}  // namespace

Result<GitGlobals> read_git_globals(Argv arguments) { return GitGlobalsReader(arguments).read(); }

std::span<const GitCallerKey> git_caller_keys() { return kCallerKeys; }

}  // namespace sallyport::hardening
