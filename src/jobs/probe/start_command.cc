#include "jobs/probe/start_command.h"

#include <algorithm>
#include <array>

#include "jobs/report/bounded_json.h"
#include "sallyport/sandboxed_path.h"

namespace sallyport::jobs {
namespace {

constexpr ByteCount kLargestPackage = mebibytes(1);

bool has(const Survey& files, std::string_view path) {
  return std::ranges::any_of(files.files, [&](const SurveyedFile& file) { return file.path == path; });
}

// Words between blanks; empty when a shell would interpret anything in it.
std::vector<std::string> plain_words(std::string_view text) {
  if (text.find_first_of("\"'\\`$&|;<>()*?[]{}~#!=\n\r\t") != std::string_view::npos) return {};
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::string_view without_dot(std::string_view path) {
  while (path.starts_with("./")) path.remove_prefix(2);
  return path;
}

std::optional<StartCommand> of_script(const InJson& package) {
  const InJson* const scripts = member(package, "scripts");
  const std::string* const start = scripts == nullptr ? nullptr : string_member(*scripts, "start");
  if (start == nullptr) return std::nullopt;
  std::vector<std::string> words = plain_words(*start);
  if (words.size() < 2 || words[0] != "node") return std::nullopt;
  return StartCommand{.argv = std::move(words), .file = "package.json", .why = "scripts.start"};
}

std::optional<StartCommand> of_file(std::string_view path, const Survey& files, std::string_view why) {
  const std::string_view file = without_dot(path);
  if (file.empty() || file.starts_with('-')) return std::nullopt;
  for (const std::string& candidate : {std::string(file), std::string(file) + ".js"}) {
    if (has(files, candidate)) {
      return StartCommand{.argv = {"node", "./" + candidate}, .file = candidate, .why = std::string(why)};
    }
  }
  return std::nullopt;
}

}  // namespace

OrWhy<StartCommand> start_command_of(std::string_view package_json, const Survey& files) {
  const auto package = parse_bounded(package_json);
  if (!package || !package->is_object()) return std::unexpected(std::string("package.json is not understood"));
  if (auto script = of_script(*package)) return *std::move(script);
  if (const std::string* const main = string_member(*package, "main")) {
    if (auto command = of_file(*main, files, "main")) return *std::move(command);
  }
  for (const std::string_view usual : {"index.js", "server.js"}) {
    if (auto command = of_file(usual, files, "the usual name")) return *std::move(command);
  }
  return std::unexpected(std::string("package.json names no start command that is plainly node and a file"));
}

OrWhy<StartCommand> start_command(const JobContext& context, const Survey& files) {
  if (!has(files, "package.json")) return std::unexpected(std::string("no package.json at the root"));
  const Result<SandboxedPath> root = SandboxedPath::open_root(context.repo);
  if (!root) return std::unexpected(root.error().message);
  const Result<std::string> text = root->read_file("package.json", kLargestPackage);
  if (!text) return std::unexpected("package.json cannot be read: " + text.error().message);
  return start_command_of(*text, files);
}

}  // namespace sallyport::jobs
