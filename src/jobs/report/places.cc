#include "jobs/report/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "jobs/report/fingerprint.h"
#include "sallyport/digest.h"
#include "sallyport/sandboxed_path.h"

namespace sallyport::jobs {
namespace {

constexpr ByteCount kLargestHashed = mebibytes(16);

void split_at_nul(std::string_view text, std::vector<std::string>& out) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string hash_without_line(const Finding& finding) {
  return sha256_hex(fmt::format("{}\n{}\n{}", finding.rule, finding.place.path, finding.message)).substr(0, 16) + ":1";
}

}  // namespace

void add_fingerprints(const std::filesystem::path& repo, std::vector<Finding>& findings) {
  const Result<SandboxedPath> root = SandboxedPath::open_root(repo);
  std::string current;  // findings are sorted by path: one file's hashes at a time
  std::vector<std::string> hashes;
  for (Finding& finding : findings) {
    if (root && finding.place.line > 0 && finding.place.path != current) {
      current = finding.place.path;
      const Result<std::string> content = root->read_file(current, kLargestHashed);
      hashes = content ? line_hashes(*content) : std::vector<std::string>();
    }
    const bool known = finding.place.line > 0 && finding.place.path == current && finding.place.line <= hashes.size();
    finding.fingerprint = known ? hashes[finding.place.line - 1] : hash_without_line(finding);
  }
}

std::variant<std::vector<std::string>, ScannerOutcome> changed_files(const JobContext& context, std::string_view base) {
  if (base.starts_with('-')) return ScannerOutcome(failed("a commit's name does not begin with '-'"));
  std::vector<std::string> files;
  const std::vector<std::vector<std::string>> questions = {
      {"git", "diff", "--name-only", "-z", "--no-renames", "--diff-filter=d", "--relative", std::string(base), "--"},
      {"git", "ls-files", "-z", "--others"}};
  for (const std::vector<std::string>& argv : questions) {
    ToolRun run = run_tool(context, {.probe = "changed_files", .argv = argv});
    if (auto* outcome = std::get_if<ScannerOutcome>(&run)) return std::move(*outcome);
    const auto& answer = std::get<ToolAnswer>(run);
    if (answer.invocation.exit_code != 0) {
      return ScannerOutcome(failed(answer, fmt::format("git could not compare the repo with '{}'", base)));
    }
    split_at_nul(answer.out(), files);
  }
  std::ranges::sort(files);
  files.erase(std::ranges::unique(files).begin(), files.end());
  return files;
}

}  // namespace sallyport::jobs
