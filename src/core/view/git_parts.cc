#include "core/view/git_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace sallyport {
namespace {

namespace fs = std::filesystem;

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_name(std::string_view text, std::string_view more) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || more.find(c) != std::string_view::npos;
  });
}

// A cursor over git's own format (git-config(1), "Syntax").
class ConfigReader {
 public:
  explicit ConfigReader(std::string_view text) : rest_(text) {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
  }

  std::optional<std::vector<GitSetting>> read() {
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (is_space(c) || c == '\n') {
        rest_.remove_prefix(1);
      } else if (c == '#' || c == ';') {
        skip_line();
      } else if (c == '[' ? !read_section() : !read_setting()) {
        return std::nullopt;
      }
    }
    return std::move(settings_);
  }

 private:
  void skip_line() { rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size())); }

  bool read_section() {
    rest_.remove_prefix(1);
    const std::size_t end = rest_.find_first_of(" \t\"]\n");
    if (end == std::string_view::npos) return false;
    const std::string_view name = rest_.substr(0, end);
    if (!is_name(name, "-.")) return false;
    section_ = lower_case(name);
    rest_.remove_prefix(end);
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
    if (rest_.starts_with('"') && !read_subsection()) return false;
    if (!rest_.starts_with(']')) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool read_subsection() {
    rest_.remove_prefix(1);
    section_ += '.';
    while (!rest_.empty() && rest_.front() != '"') {
      if (rest_.front() == '\\') rest_.remove_prefix(1);
      if (rest_.empty() || rest_.front() == '\n') return false;
      section_ += rest_.front();
      rest_.remove_prefix(1);
    }
    if (rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool read_setting() {
    if (section_.empty()) return false;
    const std::size_t end = std::min(rest_.find_first_of("= \t\r\n#;"), rest_.size());
    const std::string_view name = rest_.substr(0, end);
    if (!is_name(name, "-")) return false;
    GitSetting setting{.key = section_ + "." + lower_case(name)};
    rest_.remove_prefix(end);
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
    if (rest_.starts_with('=')) {
      rest_.remove_prefix(1);
      if (!read_value(setting.value)) return false;
    } else if (!rest_.empty() && rest_.front() != '\n' && rest_.front() != '#' && rest_.front() != ';') {
      return false;
    }
    settings_.push_back(std::move(setting));
    return true;
  }

  bool read_value(std::string& value) {
    bool quoted = false;
    for (; !rest_.empty() && (quoted || rest_.front() != '\n'); rest_.remove_prefix(1)) {
      const char c = rest_.front();
      if (c == '\n') return false;  // a quote that never ends
      if (!quoted && (c == '#' || c == ';')) {
        skip_line();
        break;
      }
      if (c == '"') {
        quoted = !quoted;
      } else if (c != '\\') {
        value += c;
      } else if (!read_escape(value)) {
        return false;
      }
    }
    value = std::string(trimmed(value));
    return !quoted;
  }

  // Starts at a backslash; leaves the cursor at the escape's last character.
  bool read_escape(std::string& value) {
    rest_.remove_prefix(1);
    if (rest_.starts_with("\r\n")) rest_.remove_prefix(1);
    if (rest_.empty()) return false;
    constexpr std::string_view kNames = "ntb\"\\";
    constexpr std::string_view kMeanings = "\n\t\b\"\\";
    if (rest_.front() == '\n') return true;  // the value continues on the next line
    const std::size_t which = kNames.find(rest_.front());
    if (which == std::string_view::npos) return false;
    value += kMeanings[which];
    return true;
  }

  std::string_view rest_;
  std::string section_;
  std::vector<GitSetting> settings_;
};

// "remote.origin.url" -> "remote.*.url"
std::string pattern_of(std::string_view key) {
  const std::size_t first = key.find('.');
  const std::size_t last = key.rfind('.');
  if (first == last) return std::string(key);
  return fmt::format("{}.*{}", key.substr(0, first), key.substr(last));
}

// Settings that git itself writes and that name neither programs nor paths.
constexpr auto kHarmless = std::to_array<std::string_view>({
    "branch.*.merge",
    "branch.*.rebase",
    "branch.*.remote",
    "core.bare",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.precomposeunicode",
    "core.repositoryformatversion",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.symlinks",
    "extensions.objectformat",
    "extensions.partialclone",
    "extensions.worktreeconfig",
    "index.sparse",
    "remote.*.fetch",
    "remote.*.partialclonefilter",
    "remote.*.promisor",
    "remote.*.tagopt",
    "submodule.*.active",
    "submodule.active",
    "user.email",
    "user.name",
});

// "ext::sh -c …" runs a command; any "helper::" starts a program of that name, a leading dash may be an option.
bool is_plain_url(std::string_view url) { return url.find("::") == std::string_view::npos && !url.starts_with('-'); }

bool stays_inside(const fs::path& from, const fs::path& relative) {
  if (relative.empty() || relative.is_absolute()) return false;
  const fs::path normal = (from / relative).lexically_normal();
  return normal.empty() || *normal.begin() != "..";
}

bool is_harmless(const GitSetting& setting, const fs::path& git_directory) {
  const std::string pattern = pattern_of(setting.key);
  if (pattern == "remote.*.url" || pattern == "submodule.*.url") return is_plain_url(setting.value);
  if (pattern == "core.worktree") return stays_inside(git_directory, setting.value);
  // Newer git accepts a URL there, which can be a path anywhere on the host.
  if (pattern == "extensions.refstorage") return setting.value == "files" || setting.value == "reftable";
  return std::ranges::find(kHarmless, pattern) != kHarmless.end();
}

constexpr auto kCommandNames = std::to_array<std::string_view>({
    "askpass",    "clean",    "cmd",        "command",           "driver",
    "editor",     "external", "fsmonitor",  "gitproxy",          "helper",
    "pager",      "process",  "program",    "receivepack",       "smudge",
    "sshcommand", "textconv", "uploadpack", "defaultkeycommand", "difffilter",
});

bool is_path_setting(std::string_view key) {
  return key == "core.hookspath" || key == "include.path" || (key.starts_with("includeif.") && key.ends_with(".path"));
}

bool names_a_program(std::string_view key) {
  const std::string_view name = key.substr(key.rfind('.') + 1);
  return key.starts_with("alias.") || key.starts_with("hook.") || key.starts_with("trailer.") ||
         std::ranges::find(kCommandNames, name) != kCommandNames.end();
}

void add_words(std::string_view value, std::vector<NamedProgram>& words) {
  constexpr std::string_view kSeparators = " \t\n\"'`;|&<>()!=$";
  while (!value.empty()) {
    const std::size_t end = std::min(value.find_first_of(kSeparators), value.size());
    if (end > 0) words.push_back({.text = std::string(value.substr(0, end))});
    value.remove_prefix(std::min(end + 1, value.size()));
  }
}

bool is_exec(std::string_view line) {
  line = trimmed(line);
  const std::string_view command = line.substr(0, std::min(line.find_first_of(" \t"), line.size()));
  return command == "exec" || command == "x";
}

}  // namespace

std::optional<std::vector<GitSetting>> parse_git_config(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  return ConfigReader(text).read();
}

std::optional<std::string> harm_in_git_config(std::string_view text, const fs::path& git_directory) {
  const std::optional<std::vector<GitSetting>> settings = parse_git_config(text);
  if (!settings) return "a configuration that cannot be read for sure";
  for (const GitSetting& setting : *settings) {
    if (!is_harmless(setting, git_directory)) return setting.key;
  }
  return std::nullopt;
}

std::vector<NamedProgram> programs_in_git_config(std::string_view text) {
  std::vector<NamedProgram> named;
  for (const GitSetting& setting : parse_git_config(text).value_or(std::vector<GitSetting>())) {
    if (setting.value.empty()) continue;
    if (is_path_setting(setting.key)) {
      named.push_back({.text = setting.value, .is_path = true});
    } else if (names_a_program(setting.key)) {
      named.push_back({.text = setting.value});
      add_words(setting.value, named);
    }
  }
  return named;
}

std::optional<std::string> gitdir_target(std::string_view text) {
  constexpr std::string_view kPrefix = "gitdir: ";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  if (text.empty() || text.find('\0') != std::string_view::npos) return std::nullopt;
  return std::string(text);
}

std::optional<std::string> without_exec_lines(std::string_view todo) {
  std::string kept;
  bool changed = false;
  while (!todo.empty()) {
    const std::size_t end = std::min(todo.find('\n'), todo.size() - 1) + 1;
    const std::string_view line = todo.substr(0, end);
    if (is_exec(line)) {
      kept += "# ";
      changed = true;
    }
    kept += line;
    todo.remove_prefix(end);
  }
  if (!changed) return std::nullopt;
  return kept;
}

}  // namespace sallyport
