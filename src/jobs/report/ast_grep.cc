#include "jobs/report/ast_grep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <thread>

#include "jobs/report/ast_grep_rules.h"
#include "jobs/report/bounded_json.h"
#include "jobs/report/text.h"
#include "sallyport/sandboxed_path.h"

namespace sallyport::jobs {
namespace {

constexpr std::string_view kMarker = "ast-grep-ignore";
constexpr ByteCount kLargestCopied = mebibytes(64);
constexpr std::uint64_t kMostCopiedBytes = 256ULL << 20U;
constexpr std::size_t kMostPathBytes = 96 << 10;  // of one command line; the kernel's own limit is far above

// A file ast-grep would not scan as it is.
struct Copy {
  std::string original{};
  std::string shown_as{};  // relative to the work directory
  bool has_marker = false;
  bool unreadable = false;  // ast-grep skips the original, or does not know it for a source
};
struct Copies {
  std::vector<Copy> files{};
  std::size_t skipped_by_tool = 0;  // files ast-grep will say it skipped: empty, or not UTF-8
  std::string problem{};
};

// UTF-16, which compilers of C read by its mark: everything outside ASCII is a question mark.
std::string narrowed(std::string_view content) {
  const bool little = content.starts_with("\xff\xfe");
  if (!little && !content.starts_with("\xfe\xff")) return std::string(content);
  std::string out;
  for (std::size_t at = 2; at + 1 < content.size(); at += 2) {
    const char high = content[little ? at + 1 : at];
    const char low = content[little ? at : at + 1];
    out += high == 0 && low > 0 ? low : '?';
  }
  return out;
}

std::string readable(std::string content) {
  content = narrowed(content);
  for (std::size_t at = content.find(kMarker); at != std::string::npos; at = content.find(kMarker, at)) {
    content[at + kMarker.size() - 1] = '_';  // as long as before, so that places stay
  }
  std::string out;
  out.reserve(content.size());
  for (std::size_t at = 0; at < content.size();) {
    const CodePoint one = code_point_at(content, at);
    if (!one.valid) {
      out += '?';
    } else if (one.value == 0) {
      out += ' ';
    } else {
      out += content.substr(at, one.length);
    }
    at += one.length;
  }
  return out;
}

Copies make_copies(const JobContext& context, const std::vector<SurveyedFile>& files) {
  Copies copies;
  const Result<SandboxedPath> root = SandboxedPath::open_root(context.repo);
  if (!root) {
    copies.problem = root.error().message;
    return copies;
  }
  std::uint64_t copied = 0;
  for (const SurveyedFile& file : files) {
    const bool known = is_source_file(file.path);
    if (file.size == 0) ++copies.skipped_by_tool;
    if (file.size == 0) continue;
    if (file.size > count(kLargestCopied)) {
      if (!known) continue;
      // A comment in it could suppress its findings.
      copies.problem = fmt::format("{} is larger than 64 MiB", shown(file.path));
      return copies;
    }
    Result<std::string> content = root->read_file(file.path, kLargestCopied);
    if (!content) continue;  // ast-grep cannot read it either, and says so
    const std::string_view as = known ? extension(file.path) : read_as(file.path, *content);
    if (as.empty()) continue;
    const bool utf8 = is_utf8(*content);
    if (known && !utf8) ++copies.skipped_by_tool;
    const bool has_marker = content->find(kMarker) != std::string::npos;
    if (known && utf8 && !has_marker && is_utf8(file.path) && content->find('\0') == std::string::npos) continue;
    copied += content->size();
    if (copied > kMostCopiedBytes) {
      copies.problem = "more than 256 MiB of files need a readable copy";
      return copies;
    }
    Copy copy{.original = file.path,
              .shown_as = fmt::format("copies/{}.{}", copies.files.size(), as),
              .has_marker = has_marker,
              .unreadable = !utf8 || !known};
    if (const Status written = write_own_file(context.work_dir / copy.shown_as, readable(*std::move(content)));
        !written) {
      copies.problem = written.error().message;
      return copies;
    }
    copies.files.push_back(std::move(copy));
  }
  return copies;
}

std::vector<std::string> command_line(std::span<const std::string> operands) {
  std::vector<std::string> argv{
      "ast-grep", "scan", "--inline-rules", std::string(ast_grep_rule_text()), "--json=stream", "--inspect=summary"};
  for (const char* ignored : {"hidden", "dot", "exclude", "global", "parent", "vcs"}) {
    argv.emplace_back("--no-ignore");
    argv.emplace_back(ignored);
  }
  argv.insert(argv.end(), operands.begin(), operands.end());
  return argv;
}

struct Scan {
  std::vector<AstGrepMatch> matches{};
  AstGrepSummary summary{};
  std::vector<Invocation> invocations{};
};

// One call of ast-grep: its findings and the number of scanned files, or the failed outcome.
std::optional<ScannerOutcome> scan_once(const JobContext& context, std::string_view probe,
                                        std::span<const std::string> operands, bool copies, Scan& scan) {
  ToolCall call{.probe = probe, .argv = command_line(operands)};
  if (copies) call.extra_read_only.push_back(context.work_dir);
  ToolRun run = run_tool(context, std::move(call));
  if (auto* outcome = std::get_if<ScannerOutcome>(&run)) return std::move(*outcome);
  auto& answer = std::get<ToolAnswer>(run);
  // The rules' text is ours and long; a report shows what was asked, not all of it.
  answer.invocation.argv[3] = "(the rules of sallyport)";
  const int code = answer.invocation.exit_code.value_or(-1);
  if (code != 0 && code != 1) return failed(answer, fmt::format("ast-grep exited with {}", code));
  auto matches = parse_ast_grep(answer.out());
  if (!matches) return failed(answer, fmt::format("its output was not understood: {}", matches.error()));
  const std::optional<AstGrepSummary> summary = parse_ast_grep_summary(answer.err());
  if (!summary) return failed(answer, "it did not say how many files it scanned");
  if ((code == 1) != !matches->empty()) return failed(answer, "its exit code and its findings contradict each other");
  scan.matches.insert(scan.matches.end(), std::make_move_iterator(matches->begin()),
                      std::make_move_iterator(matches->end()));
  scan.summary.scanned += summary->scanned;
  scan.summary.skipped += summary->skipped;
  scan.invocations.push_back(std::move(answer.invocation));
  return std::nullopt;
}

// Paths as operands, in pieces that fit a command line.
std::optional<ScannerOutcome> scan_paths(const JobContext& context, std::string_view probe,
                                         const std::vector<std::string>& paths, Scan& scan) {
  for (std::size_t at = 0; at < paths.size();) {
    std::vector<std::string> operands;
    for (std::size_t bytes = 0; at < paths.size() && bytes < kMostPathBytes; ++at) {
      operands.push_back("./" + paths[at]);
      bytes += paths[at].size() + 3;
    }
    if (auto outcome = scan_once(context, probe, operands, false, scan)) return outcome;
  }
  return std::nullopt;
}

Finding finding_of(const AstGrepMatch& match) {
  const RuleInfo* const rule = find_ast_grep_rule(match.rule);
  return {.rule = match.rule,
          .severity = rule == nullptr ? Severity::kHigh : rule->severity,
          .message = rule == nullptr ? match.rule : rule->summary,
          .place = match.place};
}

// Adds the findings in copies: at the original's place, and suppressed if only a comment hid them there.
void add_from_copies(const Copies& copies, const Scan& in_copies, const std::filesystem::path& work_dir,
                     std::vector<Finding>& findings) {
  std::map<std::string, const Copy*> by_name;
  for (const Copy& copy : copies.files) by_name[(work_dir / copy.shown_as).native()] = &copy;
  std::set<std::pair<Place, std::string>> plain;
  for (const Finding& finding : findings) plain.emplace(finding.place, finding.rule);
  for (const AstGrepMatch& match : in_copies.matches) {
    const auto copy = by_name.find(match.place.path);
    if (copy == by_name.end()) continue;
    Finding finding = finding_of(match);
    finding.place.path = copy->second->original;
    const bool hidden = !plain.contains({finding.place, finding.rule});
    if (hidden && copy->second->has_marker && !copy->second->unreadable && is_utf8(copy->second->original)) {
      finding.suppression =
          Suppression{.kind = Suppression::Kind::kInSource, .justification = "a comment of the repo: ast-grep-ignore"};
    }
    findings.push_back(std::move(finding));
  }
}

Place place_of(const InJson& match) {
  Place place;
  const InJson* const range = member(match, "range");
  const InJson* const start = range == nullptr ? nullptr : member(*range, "start");
  const InJson* const end = range == nullptr ? nullptr : member(*range, "end");
  if (start == nullptr || end == nullptr) return place;
  const auto line = number_member(*start, "line");
  const auto column = number_member(*start, "column");
  const auto end_line = number_member(*end, "line");
  const auto end_column = number_member(*end, "column");
  if (!line || !column || !end_line || !end_column) return place;
  // Zero-based, both.
  return {
      .path = {}, .line = *line + 1, .column = *column + 1, .end_line = *end_line + 1, .end_column = *end_column + 1};
}

std::optional<std::size_t> number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t value = 0;
  const char* const begin = text.data() + at + key.size();
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  return error == std::errc() && end != begin ? std::optional(value) : std::nullopt;
}

}  // namespace

std::expected<std::vector<AstGrepMatch>, std::string> parse_ast_grep(std::string_view json_lines) {
  std::vector<AstGrepMatch> matches;
  while (!json_lines.empty()) {
    const std::size_t end = json_lines.find('\n');
    if (end == std::string_view::npos) return std::unexpected(std::string("the last line is cut off"));
    const std::string_view line = json_lines.substr(0, end);
    json_lines.remove_prefix(end + 1);
    if (line.empty()) continue;
    const auto value = parse_bounded(line);
    if (!value) return std::unexpected(value.error());
    const std::string* const file = string_member(*value, "file");
    const std::string* const rule = string_member(*value, "ruleId");
    AstGrepMatch match{.rule = rule == nullptr ? "" : *rule, .place = place_of(*value)};
    if (file == nullptr || match.rule.empty() || match.place.line == 0) {
      return std::unexpected(std::string("a match without file, ruleId or range"));
    }
    match.place.path = file->starts_with("./") ? file->substr(2) : *file;
    matches.push_back(std::move(match));
  }
  return matches;
}

std::optional<AstGrepSummary> parse_ast_grep_summary(std::string_view stderr_text) {
  constexpr std::string_view kLine = "sg: summary|file: ";
  const std::size_t at = stderr_text.rfind(kLine);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view line = stderr_text.substr(at, stderr_text.find('\n', at) - at);
  const auto scanned = number_after(line, "scannedFileCount=");
  const auto skipped = number_after(line, "skippedFileCount=");
  if (!scanned || !skipped) return std::nullopt;
  return AstGrepSummary{.scanned = *scanned, .skipped = *skipped};
}

ScannerOutcome run_ast_grep(const JobContext& context, std::string_view probe, const Survey& files,
                            const std::optional<std::vector<std::string>>& only) {
  std::vector<SurveyedFile> sources;
  std::vector<std::string> paths;
  std::size_t known = 0;
  for (const SurveyedFile& file : files.files) {
    const bool is_known = is_source_file(file.path);
    if (!is_known && !may_be_read_as(file)) continue;
    if (only && !std::ranges::binary_search(*only, file.path)) continue;
    sources.push_back(file);
    if (is_known) ++known;
    if (is_known && only && is_utf8(file.path)) paths.push_back(file.path);
  }
  Copies copies;
  if (known == 0) copies = make_copies(context, sources);
  if (known == 0 && copies.files.empty() && copies.problem.empty()) {
    return NotApplicable{.why = "no file in a language the rules know"};
  }
  Scan scan;
  std::optional<ScannerOutcome> outcome;
  if (known > 0) {
    std::jthread copier([&] { copies = make_copies(context, sources); });
    const std::vector<std::string> everything{"."};
    outcome = only ? scan_paths(context, probe, paths, scan) : scan_once(context, probe, everything, false, scan);
  }
  if (outcome) return *std::move(outcome);
  if (!copies.problem.empty()) return failed(copies.problem);
  const std::size_t expected = only ? paths.size() : known;
  if (scan.summary.scanned < expected) {
    return failed(fmt::format("it scanned {} of {} source files", scan.summary.scanned, expected));
  }
  if (scan.summary.skipped > copies.skipped_by_tool) {
    return failed(
        fmt::format("it skipped {} files that it should have read", scan.summary.skipped - copies.skipped_by_tool));
  }
  Ran ran;
  // A name that is no UTF-8 comes back mangled; its copy has the finding under the real name.
  for (const AstGrepMatch& match : scan.matches) {
    if (match.place.path.find("\xEF\xBF\xBD") == std::string::npos) ran.findings.push_back(finding_of(match));
  }
  if (!copies.files.empty()) {
    Scan in_copies;
    const std::vector<std::string> operands{(context.work_dir / "copies").native()};
    if (auto other = scan_once(context, probe, operands, true, in_copies)) return *std::move(other);
    if (in_copies.summary.scanned < copies.files.size()) return failed("it did not scan every readable copy");
    add_from_copies(copies, in_copies, context.work_dir, ran.findings);
    scan.invocations.insert(scan.invocations.end(), in_copies.invocations.begin(), in_copies.invocations.end());
  }
  ran.invocations = std::move(scan.invocations);
  sort_and_merge(ran.findings);
  return ran;
}

}  // namespace sallyport::jobs
