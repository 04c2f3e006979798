#include "cli/tool_table.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>

#include "cli/job.h"
#include "core/policy/builtin_allowlist.h"
#include "core/text/printable.h"
#include "locate/hash_cache.h"
#include "locate/tool_locator.h"
#include "locate/trust.h"
#include "os/scratch.h"
#include "sallyport/gate.h"
#include "sallyport/sandboxed_path.h"

namespace sallyport::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kVersionTimeout{10};
constexpr std::string_view kVersionFile = "versions.v1";

struct PackageManager {
  std::string_view id;  // of /etc/os-release
  std::string_view command;
};
constexpr auto kManagers = std::to_array<PackageManager>({{"fedora", "dnf install"},
                                                          {"rhel", "dnf install"},
                                                          {"alpine", "apk add"},
                                                          {"arch", "pacman -S"},
                                                          {"opensuse", "zypper install"}});

using VersionKey = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::int64_t>;
using Versions = std::map<VersionKey, std::string>;

VersionKey key_of(const BinaryIdentity& binary) { return {binary.device, binary.inode, binary.size, binary.mtime_ns}; }

bool is_version_char(char c) { return (c >= '0' && c <= '9') || c == '.'; }

// "DEVICE INODE SIZE MTIME VERSION" a line; a line of another shape makes the whole file count as empty.
Versions parse_versions(std::string_view text) {
  Versions versions;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    std::array<std::int64_t, 4> numbers{};
    for (std::int64_t& number : numbers) {
      const auto [after, error] = std::from_chars(line.data(), line.data() + line.size(), number);
      if (error != std::errc() || after == line.data() + line.size() || *after != ' ') return {};
      line.remove_prefix(static_cast<std::size_t>(after - line.data()) + 1);
    }
    if (!std::ranges::all_of(line, is_version_char)) return {};
    versions[{static_cast<std::uint64_t>(numbers[0]), static_cast<std::uint64_t>(numbers[1]),
              static_cast<std::uint64_t>(numbers[2]), numbers[3]}] = line;
  }
  return versions;
}

// Trusted only if no other user could have written it.
Versions load_versions(const fs::path& directory) {
  if (directory.empty() || !trusted_file(directory / kVersionFile, TrustContext::current({}))) return {};
  const Result<SandboxedPath> root = SandboxedPath::open_root(directory);
  if (!root) return {};
  const Result<std::string> text = root->read_file(fs::path(kVersionFile), mebibytes(1));
  return text ? parse_versions(*text) : Versions();
}

// A cache: a failed save is no error, the next check just takes longer.
void save_versions(const fs::path& directory, const Versions& versions) {
  if (directory.empty() || !trusted_directory(directory, TrustContext::current({}))) return;
  std::string text;
  for (const auto& [key, version] : versions) {
    text += fmt::format("{} {} {} {} {}\n", std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key),
                        version);
  }
  static_cast<void>(write_report(directory / kVersionFile, text));
}

std::string read_os_release() {
  const Result<SandboxedPath> etc = SandboxedPath::open_root("/usr/lib");
  if (!etc) return {};
  const Result<std::string> text = etc->read_file("os-release", mebibytes(1));
  return text ? *text : std::string();
}

std::string ask_version(Gate& gate, const std::string& tool) {
  const JailedSubprocessSpec spec{.argv = {tool, "--version"},
                                  .repo = gate.config().repo,
                                  .cwd = gate.config().repo,
                                  .limits = {.wall = kVersionTimeout, .output = mebibytes(1)}};
  const Result<JailedSubprocessResult> answer = gate.run(spec, JailKind::kAuto, {});
  if (!answer) return {};
  const std::string version = version_in(answer->stdout_stream.bytes);
  return version.empty() ? version_in(answer->stderr_stream.bytes) : version;
}

std::string_view state_name(ToolRow::State state) {
  constexpr std::array<std::string_view, 4> kNames = {"present", "missing", "refused", "not applicable"};
  return kNames.at(static_cast<std::size_t>(state));
}

ToolRow row_of(const ToolEntry& entry, const std::vector<fs::path>& places, HashCache& hashes,
               std::string_view system) {
  ToolRow row{.name = entry.name,
              .need = entry.need,
              .tested = std::string(tested_version(entry.name)),
              .install = install_command(entry.install_hint, system)};
  if (entry.platform == Platform::kMacOs) {
    row.state = ToolRow::State::kNotApplicable;
    return row;
  }
  const Result<PinnedTool> found = locate(entry, places, {}, hashes);
  if (found) {
    row.state = ToolRow::State::kPresent;
    row.binary = found->binary;
    row.writers = writers_of(row.binary.path);
  } else if (found.error().as<ToolMissingError>() == nullptr) {
    row.state = ToolRow::State::kRefused;
    row.problem = found.error().message;
  }
  return row;
}

}  // namespace

std::vector<std::string> writers_of(const fs::path& path) {
  std::vector<std::string> writers{"root"};
  const auto add = [&writers](std::string who) {
    if (std::ranges::find(writers, who) == writers.end()) writers.push_back(std::move(who));
  };
  for (fs::path node = path;; node = node.parent_path()) {
    struct stat info{};
    if (::stat(node.c_str(), &info) == 0) {
      // In a sticky directory everyone can make files, but only a file's owner can replace it (path_resolution(7),
      // chmod(1)).
      const bool sticky = S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0;
      if (info.st_uid != 0) add(info.st_uid == ::geteuid() ? std::string("you") : fmt::format("uid {}", info.st_uid));
      if ((info.st_mode & S_IWGRP) != 0 && !sticky) add(fmt::format("gid {}", info.st_gid));
      if ((info.st_mode & S_IWOTH) != 0 && !sticky) add("everyone");
    }
    if (node == node.parent_path()) return writers;
  }
}

std::string version_in(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] < '0' || text[at] > '9') continue;
    std::size_t end = at;
    while (end < text.size() && is_version_char(text[end])) ++end;
    std::string_view version = text.substr(at, end - at);
    while (version.ends_with('.')) version.remove_suffix(1);
    if (version.find('.') != std::string_view::npos) return std::string(version);
    at = end;
  }
  return {};
}

std::string install_command(std::string_view hint, std::string_view os_release) {
  constexpr std::string_view kDebian = "apt-get install";
  if (!hint.starts_with(kDebian)) return std::string(hint);
  for (const PackageManager& manager : kManagers) {
    if (os_release.find(fmt::format("ID={}", manager.id)) == std::string_view::npos &&
        os_release.find(fmt::format("ID=\"{}", manager.id)) == std::string_view::npos) {
      continue;
    }
    return fmt::format("{}{}", manager.command, hint.substr(kDebian.size()));
  }
  return std::string(hint);
}

std::vector<ToolRow> find_tools(const Environment& environment) {
  const std::vector<fs::path> places = search_path(environment);
  const fs::path cache = cache_dir(environment);
  const std::string system = read_os_release();
  HashCache hashes(cache);
  std::vector<ToolRow> rows;
  for (const ToolEntry& entry : Allowlist::builtin().entries()) rows.push_back(row_of(entry, places, hashes, system));
  Versions versions = load_versions(cache);
  Result<ScratchDir> empty_repo = ScratchDir::create("/tmp");
  if (!empty_repo) return rows;
  Result<std::unique_ptr<Gate>> gate = Gate::open(gate_config(environment, empty_repo->path()));
  if (!gate) return rows;
  bool learned = false;
  for (ToolRow& row : rows) {
    const ToolEntry* const entry = Allowlist::builtin().find(row.name);
    if (row.state != ToolRow::State::kPresent || entry->role == Role::kWrapper) continue;
    const auto known = versions.find(key_of(row.binary));
    row.version = known != versions.end() ? known->second : ask_version(**gate, row.name);
    if (known == versions.end() && !row.version.empty()) {
      versions[key_of(row.binary)] = row.version;
      learned = true;
    }
  }
  if (learned) save_versions(cache, versions);
  return rows;
}

bool lacks_mandatory(const std::vector<ToolRow>& rows) {
  return std::ranges::any_of(rows, [](const ToolRow& row) {
    return row.need == Need::kMandatory && row.state != ToolRow::State::kPresent &&
           row.state != ToolRow::State::kNotApplicable;
  });
}

std::string tools_text(const std::vector<ToolRow>& rows, bool colour) {
  std::string text = fmt::format("\n{:<16} {:<15} {:<9} {:<10} {:<10} {:<12} {}\n", "TOOL", "STATE", "NEED", "VERSION",
                                 "TESTED", "WRITABLE BY", "WHERE");
  for (const ToolRow& row : rows) {
    const bool bad = row.state == ToolRow::State::kRefused ||
                     (row.state == ToolRow::State::kMissing && row.need == Need::kMandatory);
    const std::string_view paint = !colour                                 ? ""
                                   : row.state == ToolRow::State::kPresent ? "\x1b[32m"
                                   : bad                                   ? "\x1b[31m"
                                                                           : "\x1b[33m";
    text += fmt::format("{:<16} {}{:<15}{} {:<9} {:<10} {:<10} {:<12} {}\n", row.name, paint, state_name(row.state),
                        colour ? "\x1b[0m" : "", row.need == Need::kMandatory ? "mandatory" : "optional", row.version,
                        row.tested, fmt::format("{}", fmt::join(row.writers, ", ")), printable(row.binary.path));
    if (row.state == ToolRow::State::kMissing) text += fmt::format("{:<16} install: {}\n", "", row.install);
    if (!row.problem.empty()) text += fmt::format("{:<16} {}\n", "", printable(row.problem));
  }
  return text;
}

Json tools_json(const std::vector<ToolRow>& rows) {
  Json tools = Json::array();
  for (const ToolRow& row : rows) {
    Json entry = {{"name", row.name},
                  {"state", state_name(row.state)},
                  {"need", row.need == Need::kMandatory ? "mandatory" : "optional"},
                  {"version", row.version},
                  {"tested", row.tested},
                  {"install", row.install}};
    if (row.state == ToolRow::State::kPresent) {
      entry["binary"] = json_of(row.binary);
      entry["writable_by"] = row.writers;
    }
    if (!row.problem.empty()) entry["problem"] = json_text(row.problem);
    tools.push_back(std::move(entry));
  }
  return tools;
}

}  // namespace sallyport::cli
