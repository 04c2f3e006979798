#include "locate/npm_installation.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "os/file.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

constexpr ByteCount kLargestFile{256 * 1024};

std::optional<hardening::NpmVersion> version_in(const std::string& package) {
  const nlohmann::json parsed = nlohmann::json::parse(package, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return std::nullopt;
  const auto version = parsed.find("version");
  if (version == parsed.end() || !version->is_string()) return std::nullopt;
  return hardening::parse_npm_version(version->get_ref<const std::string&>());
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// "key = value" at the beginning of a line. Only an absolute path is of use; a distribution writes no other.
std::string path_in(std::string_view npmrc, std::string_view key) {
  while (!npmrc.empty()) {
    const std::size_t end = npmrc.find('\n');
    const std::string_view line = npmrc.substr(0, end);
    npmrc.remove_prefix(end == std::string_view::npos ? npmrc.size() : end + 1);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || trimmed(line.substr(0, equals)) != key) continue;
    const std::string_view value = trimmed(line.substr(equals + 1));
    if (value.starts_with('/')) return std::string(value);
  }
  return {};
}

}  // namespace

hardening::NpmLayout read_npm_layout(const PinnedTool& npm) {
  hardening::NpmLayout layout;
  // npm's default: /usr for /usr/bin/node.
  if (!npm.interpreters.empty()) {
    layout.prefix = fs::path(npm.interpreters.front().path).parent_path().parent_path().native();
  }
  const fs::path bin = fs::path(npm.binary.path).parent_path();
  if (bin.filename() == "bin") {
    layout.root = bin.parent_path().native();
    if (const auto package = read_whole_file(bin.parent_path() / "package.json", kLargestFile)) {
      layout.version = version_in(*package);
    }
    // The configuration a distribution builds in; Debian's says prefix=/usr/local and globalconfig=/etc/npmrc.
    if (const auto built_in = read_whole_file(bin.parent_path() / "npmrc", kLargestFile)) {
      if (std::string prefix = path_in(*built_in, "prefix"); !prefix.empty()) layout.prefix = std::move(prefix);
      layout.global_config = path_in(*built_in, "globalconfig");
    }
  }
  if (layout.global_config.empty() && !layout.prefix.empty()) {
    layout.global_config = layout.prefix == "/" ? "/etc/npmrc" : layout.prefix + "/etc/npmrc";
  }
  return layout;
}

}  // namespace sallyport
