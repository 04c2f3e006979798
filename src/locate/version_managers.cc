#include "locate/version_managers.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "os/file.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

constexpr ByteCount kLargestChoice{64 * 1024};

std::string small_file(const fs::path& path) {
  const auto text = read_whole_file(path, kLargestChoice);
  return text ? *text : std::string();
}

std::string_view word_at(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_first_of(" \t\r\n"));
}

// One component of a path, and nothing else.
bool is_component(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos;
}

std::optional<fs::path> existing(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) ? std::optional(path) : std::nullopt;
}

// ROOT/shims/NAME, ROOT/version, ROOT/versions/VERSION/bin/NAME: pyenv, rbenv, nodenv.
std::optional<fs::path> behind_pyenv(const fs::path& root, const std::string& name) {
  std::string text = small_file(root / "version");
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::string_view version = word_at(line);
    if (!is_component(version)) continue;
    if (auto program = existing(root / "versions" / version / "bin" / name)) return program;
  }
  return std::nullopt;
}

// ROOT/shims/NAME says "# asdf-plugin: PLUGIN VERSION" for each version that has the program; HOME/.tool-versions says
// which one is meant: "PLUGIN VERSION".
std::optional<fs::path> behind_asdf(const fs::path& root, const fs::path& shim, const std::string& name) {
  constexpr std::string_view kMark = "# asdf-plugin: ";
  const std::string choices = small_file(root.parent_path() / ".tool-versions");
  const std::string text = small_file(shim);
  std::optional<fs::path> only;
  for (std::size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at + 1)) {
    const std::string_view line = std::string_view(text).substr(at + kMark.size());
    const std::string_view plugin = word_at(line);
    const std::string_view version = word_at(line.substr(plugin.size()));
    if (!is_component(plugin) || !is_component(version)) continue;
    auto program = existing(root / "installs" / plugin / version / "bin" / name);
    if (!program) continue;
    const std::string chosen = std::string(plugin) + " " + std::string(version);
    if (choices.starts_with(chosen + "\n") || choices.find("\n" + chosen + "\n") != std::string::npos) return program;
    only = std::move(program);
  }
  return only;
}

// HOME/.cargo/bin/NAME is rustup itself by another name; HOME/.rustup/settings.toml has default_toolchain = "T".
std::optional<fs::path> behind_rustup(const fs::path& found, const std::string& name) {
  std::error_code error;
  const fs::path rustup = found.parent_path() / "rustup";
  if (name == "rustup" || !fs::equivalent(found, rustup, error) || error) return std::nullopt;
  const fs::path root = found.parent_path().parent_path().parent_path() / ".rustup";
  constexpr std::string_view kKey = "default_toolchain = \"";
  const std::string settings = small_file(root / "settings.toml");
  const std::size_t at = settings.find(kKey);
  if (at == std::string::npos) return std::nullopt;
  const std::string_view rest = std::string_view(settings).substr(at + kKey.size());
  const std::string_view toolchain = rest.substr(0, rest.find('"'));
  if (!is_component(toolchain)) return std::nullopt;
  return existing(root / "toolchains" / toolchain / "bin" / name);
}

std::string text_in(const nlohmann::json& record, const char* key) {
  const auto value = record.is_object() ? record.find(key) : record.end();
  return record.is_object() && value != record.end() && value->is_string() ? value->get<std::string>() : std::string();
}

// ROOT/bin/NAME leads to volta-shim; ROOT/tools/user/platform.json has {"node": {"runtime": V, "npm": V}, "yarn": V}.
std::optional<fs::path> behind_volta(const fs::path& found, const std::string& name) {
  std::error_code error;
  if (fs::read_symlink(found, error).filename() != "volta-shim" || error) return std::nullopt;
  const fs::path tools = found.parent_path().parent_path() / "tools";
  const nlohmann::json platform = nlohmann::json::parse(small_file(tools / "user" / "platform.json"), nullptr, false);
  if (!platform.is_object()) return std::nullopt;
  const nlohmann::json node = platform.value("node", nlohmann::json::object());
  struct Place {
    std::string_view kind;
    std::string version;
  };
  const std::array<Place, 3> places = {Place{"npm", name == "npm" || name == "npx" ? text_in(node, "npm") : ""},
                                       Place{"yarn", name == "yarn" ? text_in(platform, "yarn") : ""},
                                       Place{"node", text_in(node, "runtime")}};
  for (const Place& place : places) {
    if (!is_component(place.version)) continue;
    if (auto program = existing(tools / "image" / place.kind / place.version / "bin" / name)) return program;
  }
  return std::nullopt;
}

}  // namespace

std::optional<fs::path> behind_version_manager(const fs::path& found, const std::string& name) {
  std::error_code error;
  const fs::path directory = found.parent_path();
  const fs::path root = directory.parent_path();
  if (directory.filename() == "shims") {
    if (fs::is_directory(root / "versions", error)) return behind_pyenv(root, name);
    if (fs::is_directory(root / "installs", error)) return behind_asdf(root, found, name);
  }
  if (directory.filename() != "bin") return std::nullopt;
  if (auto program = behind_volta(found, name)) return program;
  return root.filename() == ".cargo" ? behind_rustup(found, name) : std::nullopt;
}

}  // namespace sallyport
