#include "jobs/validate/lock_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "jobs/report/text.h"
#include "jobs/validate/integrity.h"

namespace sallyport::jobs {
namespace {

constexpr std::string_view kManifestPath = "package.json";

const std::vector<RuleInfo>& rules() {
  static const std::vector<RuleInfo> made = {
      {"lock-foreign-host", Severity::kHigh, "a package comes from a host that is not the registry",
       "Install from your registry, or name the host with `lock_hosts` when it is a registry of yours"},
      {"lock-missing-integrity", Severity::kHigh, "a package has no hash, so that any content would be taken for it",
       "Make the lock file anew against the registry"},
      {"lock-weak-integrity", Severity::kMedium, "a package's hash is not SHA-512",
       "Make the lock file anew with a current npm"},
      {"lock-git-source", Severity::kHigh, "a package comes from a git repository, past the registry",
       "Publish it, or inspect its content"},
      {"lock-url-source", Severity::kHigh, "a package comes from a URL, past the registry",
       "Publish it, or inspect its content"},
      {"lock-plain-http", Severity::kMedium, "a package is fetched without encryption", "Use https"},
      {"lock-leaves-repo", Severity::kHigh, "a path in the lock file leaves the repo", "Do not install this"},
      {"lock-shadows-program", Severity::kHigh, "a package puts a program in front of one that scripts rely on",
       "Inspect that program before you run any script outside a jail"},
      {"lock-other-package", Severity::kHigh, "another package or version is fetched than the one that is named",
       "Make the lock file anew against the registry"},
      {"lock-own-lock", Severity::kMedium, "a package brings a lock file of its own, which decides what lies below it",
       "Read its npm-shrinkwrap.json"},
      {"lock-mismatch", Severity::kHigh, "the lock file was not made for this package.json",
       "Run npm install and review the changes"},
      {"lock-install-script", Severity::kLow, "a package has an install script, which did not run",
       "Name the package with `allow_scripts` when it needs it"},
      {"lock-too-young", Severity::kHigh, "a version was published too recently, or its date is unknown",
       "Wait, or choose an earlier version"},
      {"signature-invalid", Severity::kCritical, "a registry signature is wrong", "Do not install this"},
      {"signature-missing", Severity::kMedium, "the registry signs its packages, and one has no signature",
       "Ask its publisher"},
      {"lock-none", Severity::kLow, "there is no lock file, so one was made", "Commit a package-lock.json"},
      {"lock-other-manager", Severity::kInfo, "another package manager's lock file was not checked",
       "Keep one lock file"},
  };
  return made;
}

// Programs that projects' scripts and npm itself call: .bin comes first in PATH.
constexpr auto kReliedOn = std::to_array<std::string_view>(
    {"node",     "npm",      "npx",      "git",     "sh",       "bash",    "env",      "cat",        "cp",      "ls",
     "mkdir",    "mv",       "rm",       "sed",     "echo",     "test",    "true",     "cd",         "curl",    "ssh",
     "python",   "python3",  "[",        "awk",     "basename", "cc",      "c++",      "chmod",      "chown",   "cmake",
     "corepack", "cut",      "dash",     "date",    "diff",     "dirname", "docker",   "false",      "find",    "g++",
     "gcc",      "gpg",      "grep",     "gunzip",  "gzip",     "head",    "hostname", "id",         "install", "kill",
     "ln",       "make",     "node-gyp", "nodejs",  "nohup",    "openssl", "perl",     "pkg-config", "printf",  "ps",
     "pwd",      "readlink", "rmdir",    "ruby",    "scp",      "sleep",   "sort",     "ssh-add",    "stat",    "sudo",
     "tail",     "tar",      "tee",      "timeout", "touch",    "tr",      "uname",    "uniq",       "unzip",   "wc",
     "wget",     "which",    "xargs",    "zip",     "zsh"});

// "node.exe" is node where that counts.
std::string_view without_ending(std::string_view program) {
  for (const std::string_view ending : {".exe", ".cmd", ".bat", ".ps1", ".com"}) {
    if (program.ends_with(ending)) return program.substr(0, program.size() - ending.size());
  }
  return program;
}

// True when a tarball's URL belongs to that package: registries differ in the text before and after the name, and npm
// checks nothing. `name` may be scoped; "/@other/name/" belongs to another package.
bool is_url_of(std::string_view url, const LockedPackage& package) {
  std::string path(url.substr(0, url.find_first_of("?#")));
  for (std::size_t at = path.find('%'); at != std::string::npos; at = path.find('%', at)) {
    const std::string_view digits = std::string_view(path).substr(at + 1, 2);
    if (digits == "40") {
      path.replace(at, 3, "@");
    } else if (digits == "2f" || digits == "2F") {
      path.replace(at, 3, "/");
    } else if (digits == "2b" || digits == "2B") {
      path.replace(at, 3, "+");
    } else {
      return false;
    }
  }
  if (path.find("/./") != std::string::npos || path.find("/../") != std::string::npos ||
      path.find('\\') != std::string::npos) {
    return false;
  }
  const std::string wanted = "/" + package.name + "/";
  std::size_t at = path.rfind(wanted, path.rfind("/-/"));
  if (at == std::string::npos) at = path.rfind(wanted);
  if (at == std::string::npos) return false;
  const std::size_t before = path.rfind('/', at == 0 ? 0 : at - 1);
  if (!package.name.starts_with('@') && before != std::string::npos && path[before + 1] == '@') return false;
  const std::size_t file = path.find("/-/", at);
  if (file == std::string::npos) return true;
  const std::string base = package.name.substr(package.name.rfind('/') + 1);
  // What follows a plus is no part of the version to a registry.
  const std::string start = fmt::format("/{}-{}", base, package.version.substr(0, package.version.find('+')));
  const std::size_t rest = path.rfind('/') + start.size();
  const bool same = path.compare(path.rfind('/'), start.size(), start) == 0 && rest < path.size();
  return package.version.empty() || (same && (path.compare(rest, std::string::npos, ".tgz") == 0 || path[rest] == '+'));
}

// Key -> the first line that opens an object of that name, in one pass whatever the text is.
std::map<std::string_view, std::uint32_t> lines_of_keys(std::string_view text) {
  std::map<std::string_view, std::uint32_t> lines;
  std::uint32_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with('"')) continue;
    line.remove_prefix(1);
    const std::size_t close = line.find('"');
    if (close != std::string_view::npos) lines.emplace(line.substr(0, close), number);
  }
  return lines;
}

class LockCheck {
 public:
  explicit LockCheck(const LockQuestion& question) : question_(question), lines_(lines_of_keys(question.lock_text)) {}

  std::vector<Finding> all() && {
    for (const LockedPackage& package : question_.lock->packages) check(package);
    check_wants();
    return std::move(findings_);
  }

 private:
  void add(std::string_view rule, const LockedPackage& package, std::string_view what) {
    const std::string name =
        package.version.empty() ? package.name : fmt::format("{}@{}", package.name, package.version);
    Place place{.path = std::string(question_.lock_path)};
    auto line = lines_.find(package.path);
    if (line == lines_.end()) line = lines_.find(package.name);
    if (line != lines_.end()) place.line = place.end_line = line->second;
    findings_.push_back(lock_finding(rule, fmt::format("{}: {}", shown(name), what), std::move(place)));
  }

  void check(const LockedPackage& package) {
    if (leaves(package.path) || leaves_by_link(package)) {
      add("lock-leaves-repo", package, fmt::format("installed at {}", shown(package.path)));
    }
    for (const std::string& program : package.programs) {
      if (std::ranges::find(kReliedOn, without_ending(program)) != kReliedOn.end()) {
        add("lock-shadows-program", package, fmt::format("its program is called {}", shown(program)));
      }
    }
    if (!is_fetched(package)) return;
    if (package.has_install_script) add("lock-install-script", package, "it has an install script");
    if (package.has_own_lock) add("lock-own-lock", package, "it has a lock file of its own");
    check_name(package);
    check_source(package);
  }

  void check_source(const LockedPackage& package) {
    switch (source_of(package.resolved)) {
      case SourceKind::kGit:
        add("lock-git-source", package, fmt::format("it comes from {}", shown(package.resolved)));
        return;
      case SourceKind::kLocal:
        if (leaves(package.resolved.substr(package.resolved.find(':') + 1))) {
          add("lock-leaves-repo", package, fmt::format("it comes from {}", shown(package.resolved)));
        }
        return;
      case SourceKind::kUrl:
        check_host(package);
        break;
      case SourceKind::kRegistry:
        add("lock-foreign-host", package, fmt::format("it comes from {}", shown(package.resolved)));
        break;
      case SourceKind::kNone:
        break;
    }
    if (package.integrity.empty()) {
      add("lock-missing-integrity", package, "it has no integrity");
    } else if (!sha512_of(package.integrity)) {
      add("lock-weak-integrity", package, "its integrity is no SHA-512");
    }
  }

  // Reports a package under another package's name that no dependency asks for.
  void check_name(const LockedPackage& package) {
    if (package.installed_as.empty() || package.installed_as == package.name) return;
    const std::pair<std::string, std::string> alias{package.installed_as, package.name};
    if (question_.lock->aliases.contains(alias) || question_.manifest->aliases.contains(alias)) return;
    add("lock-other-package", package, fmt::format("it is installed as {}", shown(package.installed_as)));
  }

  void check_host(const LockedPackage& package) {
    const std::optional<WebPlace> place = web_place(package.resolved);
    const bool known =
        place && (place->host == question_.registry.host
                      ? place->port == question_.registry.port
                      : std::ranges::find(question_.known_hosts, place_text(*place)) != question_.known_hosts.end());
    if (!known) {
      add("lock-foreign-host", package,
          place ? fmt::format("it comes from {}", place_text(*place))
                : fmt::format("it comes from {}", shown(package.resolved)));
    } else if (!place->is_https && question_.registry.is_https) {
      add("lock-plain-http", package, fmt::format("it comes from http://{}", place_text(*place)));
    }
    if (known && !is_url_of(package.resolved, package)) {
      add("lock-other-package", package, fmt::format("it comes from {}", shown(package.resolved)));
    }
  }

  // Version 1 does not record its package.json; then at least every dependency must be there.
  void check_wants() {
    const WantedPackages& wanted = question_.manifest->wanted;
    for (const Wants* wants : {&wanted.dependencies, &wanted.dev, &wanted.peer}) check_ranges(*wants);
    if (question_.lock->version == 1) {
      for (const Wants* wants : {&wanted.dependencies, &wanted.dev}) {
        for (const auto& [name, range] : *wants) {
          if (!has_top_level(name)) add_mismatch(name, "is not in the lock file");
        }
      }
      return;
    }
    const WantedPackages& locked = question_.lock->wanted;
    compare(wanted.dependencies, locked.dependencies);
    compare(wanted.dev, locked.dev);
    compare(wanted.peer, locked.peer);
  }

  void compare(const Wants& wanted, const Wants& locked) {
    for (const auto& [name, range] : wanted) {
      const auto same = locked.find(name);
      if (same == locked.end()) add_mismatch(name, "is not in the lock file");
      if (same != locked.end() && same->second != range) {
        add_mismatch(name,
                     fmt::format("is {} in package.json and {} in the lock file", shown(range), shown(same->second)));
      }
    }
    for (const auto& [name, range] : locked) {
      if (!wanted.contains(name)) add_mismatch(name, "is in the lock file only");
    }
  }

  void check_ranges(const Wants& wants) {
    for (const auto& [name, range] : wants) {
      const SourceKind kind = source_of(range);
      if (kind != SourceKind::kGit && kind != SourceKind::kUrl) continue;
      findings_.push_back(lock_finding(kind == SourceKind::kGit ? "lock-git-source" : "lock-url-source",
                                       fmt::format("{}: package.json asks for {}", shown(name), shown(range)),
                                       {.path = std::string(kManifestPath)}));
    }
  }

  void add_mismatch(std::string_view name, std::string_view what) {
    findings_.push_back(lock_finding("lock-mismatch", fmt::format("{} {}", shown(name), what),
                                     {.path = std::string(question_.lock_path)}));
  }

  [[nodiscard]] bool has_top_level(const std::string& name) const {
    const std::string path = "node_modules/" + name;
    const auto& packages = question_.lock->packages;
    const auto found = std::ranges::lower_bound(packages, path, {}, &LockedPackage::path);
    return found != packages.end() && found->path == path;
  }

  static bool leaves(std::string_view path) {
    if (path.starts_with('/') || path.find('\\') != std::string_view::npos) return true;
    while (!path.empty()) {
      const std::size_t slash = std::min(path.find('/'), path.size());
      if (path.substr(0, slash) == "..") return true;
      path.remove_prefix(std::min(slash + 1, path.size()));
    }
    return false;
  }
  static bool leaves_by_link(const LockedPackage& package) { return package.is_link && leaves(package.resolved); }

  const LockQuestion& question_;
  std::map<std::string_view, std::uint32_t> lines_;
  std::vector<Finding> findings_;
};

}  // namespace

std::span<const RuleInfo> lock_rules() { return rules(); }

std::vector<Finding> sorted(std::vector<Finding> findings) {
  const auto key = [](const Finding& finding) { return std::tie(finding.place, finding.rule, finding.message); };
  std::ranges::sort(findings, [&](const Finding& a, const Finding& b) { return key(a) < key(b); });
  const auto repeated =
      std::ranges::unique(findings, [&](const Finding& a, const Finding& b) { return key(a) == key(b); });
  findings.erase(repeated.begin(), repeated.end());
  return findings;
}

Finding lock_finding(std::string_view rule, std::string message, Place place) {
  const auto known = std::ranges::find(rules(), rule, &RuleInfo::id);
  return {.rule = std::string(rule),
          .severity = known == rules().end() ? Severity::kHigh : known->severity,
          .message = std::move(message),
          .place = std::move(place)};
}

std::vector<Finding> check_lock(const LockQuestion& question) { return sorted(LockCheck(question).all()); }

}  // namespace sallyport::jobs
