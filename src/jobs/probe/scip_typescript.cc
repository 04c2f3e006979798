// scip-typescript writes an index of symbols into its scratch directory; we read it there, never from the repo.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "jobs/probe/all.h"
#include "jobs/probe/parsers.h"
#include "jobs/report/text.h"

namespace sallyport::jobs {
namespace {

constexpr ByteCount kLargestIndex = mebibytes(256);
constexpr std::size_t kMostSymbols = 200'000;

// One field of a protobuf message. Only what SCIP uses: varints and length-delimited fields; fixed ones are skipped.
struct Field {
  std::uint32_t number = 0;
  std::string_view bytes{};
};

class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes) : rest_(bytes) {}
  // False at the end, or when the bytes are no protobuf: then broken() says so.
  bool next(Field& field) {
    if (rest_.empty() || broken_) return false;
    const std::uint64_t tag = varint();
    field = {.number = static_cast<std::uint32_t>(tag >> 3U)};
    switch (tag & 7U) {
      case 0:
        static_cast<void>(varint());
        break;
      case 1:
        take(8);
        break;
      case 2:
        field.bytes = take(varint());
        break;
      case 5:
        take(4);
        break;
      default:
        broken_ = true;
    }
    return !broken_;
  }
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<std::uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    broken_ = true;
    return 0;
  }
  std::string_view take(std::uint64_t size) {
    if (broken_ || size > rest_.size()) {
      broken_ = true;
      return {};
    }
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  std::string_view rest_;
  bool broken_ = false;
};

std::string_view first_field(std::string_view message, std::uint32_t number) {
  ProtoReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == number) return field.bytes;
  }
  return {};
}

// Document{relative_path=1, occurrences=2, symbols=3}; SymbolInformation{symbol=1}.
OrWhy<void> add_document(std::string_view document, Parsed& parsed) {
  std::string path;
  std::size_t occurrences = 0;
  std::vector<std::string> symbols;
  ProtoReader reader(document);
  for (Field field; reader.next(field);) {
    if (field.number == 1) path = shown(field.bytes);
    if (field.number == 2) ++occurrences;
    if (field.number == 3) symbols.push_back(shown(first_field(field.bytes, 1)));
  }
  if (reader.broken() || path.empty()) return std::unexpected(std::string("a document that is cut off or has no path"));
  parsed.inventory.push_back({.kind = "document",
                              .name = path,
                              .detail = fmt::format("{} symbols, {} occurrences", symbols.size(), occurrences),
                              .path = path});
  for (std::string& symbol : symbols) {
    if (parsed.inventory.size() >= kMostSymbols)
      return std::unexpected(fmt::format("more than {} symbols", kMostSymbols));
    parsed.inventory.push_back({.kind = "symbol", .name = std::move(symbol), .detail = {}, .path = path});
  }
  return {};
}

// Where npm put the tool's dependencies: beside its package, and of a tool outside /usr the jail shows the one file only. The
// operator installed all of it, and it is shown read-only.
std::vector<std::filesystem::path> packages_of_tool(const JobContext& context) {
  constexpr std::string_view kPackages = "/node_modules/";
  const Result<Explanation> plan = context.gate->explain({.argv = {"scip-typescript", "--version"},
                                                          .repo = context.repo,
                                                          .cwd = context.repo,
                                                          .limits = {.wall = std::chrono::seconds(1)}},
                                                         JailKind::kAuto);
  if (!plan) return {};  // the run itself says why
  const std::string& path = path_of(plan->binary);
  const std::size_t at = path.find(kPackages);
  if (at == std::string::npos || path.starts_with("/usr/")) return {};
  return {path.substr(0, at + kPackages.size() - 1)};
}

std::vector<RuleInfo> scip_rules() { return {}; }

ScannerOutcome run_scip(const ProbeInput& input) {
  const bool has_project =
      std::ranges::any_of(input.files->files, [](const SurveyedFile& file) { return file.path == "tsconfig.json"; });
  if (!has_project) return NotApplicable{.why = "no tsconfig.json at the root"};
  ToolRun run = run_tool(
      *input.context, {.probe = "scip_typescript",
                       .argv = {"scip-typescript", "index", "--no-progress-bar", "--output", "/tmp/probe/index.scip"},
                       .extra_read_only = packages_of_tool(*input.context)});
  if (auto* outcome = std::get_if<ScannerOutcome>(&run)) return std::move(*outcome);
  auto& answer = std::get<ToolAnswer>(run);
  if (answer.invocation.exit_code != 0) {
    return failed(answer, fmt::format("scip-typescript exited with {}", answer.invocation.exit_code.value_or(-1)));
  }
  if (!answer.result.scratch) return failed(answer, "the jail has no scratch directory to read the index from");
  // The jail hands back its /tmp.
  const Result<std::string> index = answer.result.scratch->read_file("probe/index.scip", kLargestIndex);
  if (!index) return failed(answer, "it left no index: " + index.error().message);
  auto parsed = parse_scip(*index);
  if (!parsed) return failed(answer, "its index was not understood: " + parsed.error());
  return Ran{.findings = {}, .inventory = std::move(parsed->inventory), .invocations = {answer.invocation}};
}

}  // namespace

// Index{metadata=1, documents=2}; Metadata{tool_info=2}; ToolInfo{name=1}.
OrWhy<Parsed> parse_scip(std::string_view bytes) {
  Parsed parsed;
  bool from_tool = false;
  ProtoReader reader(bytes);
  for (Field field; reader.next(field);) {
    if (field.number == 1) from_tool = first_field(first_field(field.bytes, 2), 1) == "scip-typescript";
    if (field.number != 2) continue;
    if (const auto added = add_document(field.bytes, parsed); !added) return std::unexpected(added.error());
  }
  if (reader.broken()) return std::unexpected(std::string("the protobuf is cut off"));
  if (!from_tool) return std::unexpected(std::string("it was not written by scip-typescript"));
  if (parsed.inventory.empty()) return std::unexpected(std::string("it names no document"));
  return parsed;
}

extern constinit const Probe kScipTypescript{.name = "scip_typescript",
                                             .tool = "scip-typescript",
                                             .summary = "the symbols of TypeScript code",
                                             .rules = scip_rules,
                                             .run = run_scip};

}  // namespace sallyport::jobs
