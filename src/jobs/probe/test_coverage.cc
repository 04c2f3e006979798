// Which files are tested, according to the repo: its coverage reports, and names of test files. Starts nothing. A
// report is the repo's own claim.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "jobs/probe/all.h"
#include "jobs/probe/parsers.h"
#include "jobs/report/bounded_json.h"
#include "jobs/report/text.h"
#include "sallyport/sandboxed_path.h"

namespace sallyport::jobs {
namespace {

constexpr ByteCount kLargestReport = mebibytes(64);
constexpr std::size_t kMostCoveredFiles = 100'000;

struct Lines {
  std::size_t covered = 0;
  std::size_t total = 0;
};

OrWhy<Parsed> as_items(const std::map<std::string, Lines>& files) {
  if (files.empty()) return std::unexpected(std::string("it names no file"));
  if (files.size() > kMostCoveredFiles) return std::unexpected(std::string("it names too many files"));
  Parsed parsed;
  for (const auto& [path, lines] : files) {
    parsed.inventory.push_back({.kind = "coverage",
                                .name = shown(path),
                                .detail = fmt::format("{}/{} lines", lines.covered, lines.total),
                                .path = path});
  }
  return parsed;
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

// The value of NAME="…" in a tag.
std::optional<std::string_view> attribute(std::string_view tag, std::string_view name) {
  const std::string wanted = " " + std::string(name) + "=\"";
  const std::size_t at = tag.find(wanted);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = tag.substr(at + wanted.size());
  const std::size_t end = rest.find('"');
  return end == std::string_view::npos ? std::nullopt : std::optional(rest.substr(0, end));
}

// "test_x.py", "x_test.go", "x.test.ts", "x.spec.ts": the x, or nothing.
std::string_view tested_stem(std::string_view path) {
  std::string_view stem = file_name(path);
  stem = stem.substr(0, stem.size() - extension(path).size() - (extension(path).empty() ? 0 : 1));
  if (stem.starts_with("test_")) return stem.substr(5);
  for (const std::string_view end : {"_test", ".test", ".spec", "_spec", "Test"}) {
    if (stem.size() > end.size() && stem.ends_with(end)) return stem.substr(0, stem.size() - end.size());
  }
  return {};
}

void map_tests(const Survey& files, std::vector<InventoryItem>& inventory) {
  std::map<std::string, std::string, std::less<>> sources;  // "stem.ext" → path
  for (const SurveyedFile& file : files.files) {
    if (tested_stem(file.path).empty()) sources.emplace(file_name(file.path), file.path);
  }
  for (const SurveyedFile& file : files.files) {
    const std::string_view stem = tested_stem(file.path);
    if (stem.empty() || extension(file.path).empty()) continue;
    const auto source = sources.find(fmt::format("{}.{}", stem, extension(file.path)));
    if (source == sources.end()) continue;
    inventory.push_back(
        {.kind = "test", .name = shown(file.path), .detail = "tests " + shown(source->second), .path = source->second});
  }
}

using Parse = OrWhy<Parsed> (*)(std::string_view);
Parse parser_for(std::string_view path) {
  const std::string_view name = file_name(path);
  if (name == "lcov.info" || name == "coverage.info") return parse_lcov;
  if (name == "coverage.xml" || name == "cobertura.xml" || name == "cobertura-coverage.xml") return parse_cobertura;
  if (name == "coverage-final.json") return parse_istanbul;
  return nullptr;
}

std::vector<RuleInfo> coverage_rules() { return {}; }

ScannerOutcome run_coverage(const ProbeInput& input) {
  const Result<SandboxedPath> root = SandboxedPath::open_root(input.context->repo);
  if (!root) return failed(root.error().message);
  Ran ran;
  for (const SurveyedFile& file : input.files->files) {
    const Parse parse = parser_for(file.path);
    if (parse == nullptr) continue;
    const Result<std::string> text = root->read_file(file.path, kLargestReport);
    if (!text) return failed(shown(file.path) + " cannot be read: " + text.error().message);
    auto parsed = parse(*text);
    if (!parsed) return failed(shown(file.path) + " was not understood: " + parsed.error());
    std::ranges::move(parsed->inventory, std::back_inserter(ran.inventory));
  }
  map_tests(*input.files, ran.inventory);
  if (ran.inventory.empty()) return NotApplicable{.why = "no coverage report and no test file with its source"};
  return ran;
}

}  // namespace

// SF: a file, DA:LINE,HITS, end_of_record.
OrWhy<Parsed> parse_lcov(std::string_view text) {
  std::map<std::string, Lines> files;
  Lines* current = nullptr;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("SF:")) {
      current = &files[std::string(line.substr(3))];
    } else if (line == "end_of_record") {
      current = nullptr;
    } else if (line.starts_with("DA:")) {
      const std::size_t comma = line.find(',');
      const auto hits = comma == std::string_view::npos ? std::nullopt : number_in(line.substr(comma + 1));
      if (current == nullptr || !hits) return std::unexpected(std::string("a DA line that belongs nowhere"));
      ++current->total;
      if (*hits > 0) ++current->covered;
    }
  }
  if (current != nullptr) return std::unexpected(std::string("the last record is cut off"));
  return as_items(files);
}

// <class filename="…"> with <line number="…" hits="…"/> inside. Tags are read one by one: no tree, no entities.
OrWhy<Parsed> parse_cobertura(std::string_view xml) {
  std::map<std::string, Lines> files;
  Lines* current = nullptr;
  bool closed = false;
  for (std::size_t at = xml.find('<'); at != std::string_view::npos; at = xml.find('<', at)) {
    const std::size_t end = xml.find('>', at);
    if (end == std::string_view::npos) return std::unexpected(std::string("a tag is cut off"));
    const std::string_view tag = xml.substr(at, end - at);
    at = end;
    if (tag.starts_with("<class ")) {
      const auto name = attribute(tag, "filename");
      if (!name) return std::unexpected(std::string("a class without a file name"));
      current = &files[std::string(*name)];
    } else if (tag == "</class") {
      current = nullptr;
    } else if (tag == "</coverage") {
      closed = true;
    } else if (tag.starts_with("<line ") && current != nullptr) {
      const auto hits = attribute(tag, "hits");
      const auto count = hits ? number_in(*hits) : std::nullopt;
      if (!count) return std::unexpected(std::string("a line without hits"));
      ++current->total;
      if (*count > 0) ++current->covered;
    }
  }
  if (!closed) return std::unexpected(std::string("no </coverage>: cut off, or another tool's"));
  return as_items(files);
}

// {PATH: {"s": {"0": HITS, …}, …}, …}
OrWhy<Parsed> parse_istanbul(std::string_view json) {
  const auto document = parse_bounded(json);
  if (!document) return std::unexpected(document.error());
  if (!document->is_object()) return std::unexpected(std::string("not an object"));
  std::map<std::string, Lines> files;
  for (auto entry = document->begin(); entry != document->end(); ++entry) {
    const InJson* const statements = member(*entry, "s");
    if (statements == nullptr || !statements->is_object())
      return std::unexpected(std::string("a file without statements"));
    Lines& lines = files[entry.key()];
    for (const InJson& hits : *statements) {
      if (!hits.is_number_unsigned()) return std::unexpected(std::string("a statement without hits"));
      ++lines.total;
      if (*hits.get_ptr<const InJson::number_unsigned_t*>() > 0) ++lines.covered;
    }
  }
  return as_items(files);
}

extern constinit const Probe kTestCoverage{.name = "test_coverage",
                                           .tool = "",
                                           .summary = "which files are tested, by the repo's own reports",
                                           .rules = coverage_rules,
                                           .run = run_coverage};

}  // namespace sallyport::jobs
