// The report for people: a Markdown comment, and one self-contained HTML page. It escapes every text that is not ours.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "jobs/probe/probe.h"
#include "jobs/report/text.h"

namespace sallyport::jobs {
namespace {

constexpr std::string_view kStyle =
#include "page_style.inc"
    ;
constexpr std::string_view kScript =
#include "page_script.inc"
    ;

struct Row {
  const ProbeResult* result;
  const Finding* finding;
};

// Worst first, then by place.
std::vector<Row> rows_of(const ProbeReport& report) {
  std::vector<Row> rows;
  for (const ProbeResult& result : report.results) {
    const auto* const ran = std::get_if<Ran>(&result.outcome);
    for (std::size_t i = 0; ran != nullptr && i < ran->findings.size(); ++i)
      rows.push_back({&result, &ran->findings[i]});
  }
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
    if (a.finding->severity != b.finding->severity) return a.finding->severity > b.finding->severity;
    return a.finding->place < b.finding->place;
  });
  return rows;
}

std::string place_text(const Place& place) {
  if (place.path.empty()) return "(the repo)";
  return place.line == 0 ? place.path : fmt::format("{}:{}:{}", place.path, place.line, place.column);
}

std::string marks_of(const Finding& finding) {
  std::string marks;
  const auto add = [&](std::string_view mark) {
    marks += marks.empty() ? std::string(mark) : ", " + std::string(mark);
  };
  if (finding.suppression) add("suppressed: " + finding.suppression->justification);
  if (finding.baseline == BaselineState::kNew) add("new");
  if (finding.baseline == BaselineState::kUnchanged) add("unchanged");
  if (finding.baseline == BaselineState::kAbsent) add("absent");
  if (!finding.secret_sha256.empty()) add("secret sha256:" + finding.secret_sha256.substr(0, 12));
  return marks;
}

// A scanner that did not scan has no number of findings, not even 0.
std::string finding_count(const ScannerOutcome& outcome) {
  const auto* const ran = std::get_if<Ran>(&outcome);
  return ran == nullptr ? "-" : std::to_string(ran->findings.size());
}

std::string receipts_text(const ScannerOutcome& outcome) {
  const auto* const ran = std::get_if<Ran>(&outcome);
  if (ran == nullptr || ran->invocations.empty()) return {};
  const Invocation& last = ran->invocations.back();
  return fmt::format("{} {}", last.receipt.jail.name(), receipt_digest(last.receipt).substr(0, 12));
}

std::string_view verdict_of(const ProbeReport& report, Severity threshold) {
  switch (probe_exit_code(report, threshold)) {
    case 0:
      return "clean";
    case 1:
      return "findings";
    default:
      return "could not complete: what did not run is not clean";
  }
}

}  // namespace

std::string markdown_report(const ProbeReport& report, Severity threshold) {
  std::string out = fmt::format("# sallyport probe: {}\n\n", verdict_of(report, threshold));
  if (!report.problem.empty()) out += markdown(report.problem) + "\n\n";
  out += "| scanner | outcome | findings | why |\n| --- | --- | ---: | --- |\n";
  for (const ProbeResult& result : report.results) {
    out += fmt::format("| {} | {} | {} | {} |\n", markdown(result.probe->name), markdown(name_of(result.outcome)),
                       finding_count(result.outcome), markdown(why_of(result.outcome)));
  }
  const std::vector<Row> rows = rows_of(report);
  if (rows.empty()) return out;
  out += "\n| severity | place | finding | scanner | marks |\n| --- | --- | --- | --- | --- |\n";
  for (const Row& row : rows) {
    out += fmt::format("| {} | {} | {} | {} | {} |\n", name_of(row.finding->severity),
                       markdown(place_text(row.finding->place)), markdown(row.finding->message),
                       markdown(row.result->probe->name), markdown(marks_of(*row.finding)));
  }
  return out;
}

std::string html_report(const ProbeReport& report, Severity threshold, std::string_view repo) {
  const std::vector<Row> rows = rows_of(report);
  // The page loads nothing and runs only our own script: its policy makes the browser enforce that.
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "
      "form-action "
      "'none'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>sallyport probe: {0}"
      "</title>\n<style>{1}</style></head>\n<body><header><h1>sallyport probe</h1><p class=\"repo\">{0}</p><p "
      "class=\"verdict v{2}\">{3}</p></header>\n",
      html(repo), kStyle, probe_exit_code(report, threshold), html(verdict_of(report, threshold)));
  if (!report.problem.empty()) out += fmt::format("<p class=\"problem\">{}</p>\n", html(report.problem));
  out +=
      "<h2>Scanners</h2><div class=\"wide\"><table "
      "class=\"scanners\"><thead><tr><th>scanner<th>outcome<th>findings<th>time<th>jail and "
      "receipt<th>why</tr></thead><tbody>\n";
  for (const ProbeResult& result : report.results) {
    out += fmt::format(
        "<tr class=\"{}\"><td>{}<td>{}<td class=\"n\">{}<td class=\"n\">{} ms<td><code>{}</code><td>{}</tr>\n",
        is_complete(result.outcome) ? "done" : "undone", html(result.probe->name), html(name_of(result.outcome)),
        finding_count(result.outcome), result.duration.count(), html(receipts_text(result.outcome)),
        html(why_of(result.outcome)));
  }
  out += "</tbody></table></div>\n<h2>Findings</h2>";
  if (rows.empty()) {
    out += "<p>None by the scanners that ran.</p>\n";
  } else {
    out +=
        "<p class=\"tools\"><label for=\"filter\">Filter</label> <input id=\"filter\" type=\"search\" "
        "placeholder=\"file, rule, severity\"> <span id=\"count\"></span></p>\n"
        "<div class=\"wide\"><table "
        "id=\"findings\"><thead><tr><th>severity<th>place<th>finding<th>scanner<th>marks</tr></thead><tbody>\n";
  }
  for (const Row& row : rows) {
    const std::string_view severity = name_of(row.finding->severity);
    fmt::format_to(std::back_inserter(out),
                   "<tr class=\"{}\"><td><span class=\"s {}\">{}</span><td><code>{}</code><td>{}<td>{}<td>{}</tr>\n",
                   row.finding->suppression ? "suppressed" : "", severity, severity,
                   html(place_text(row.finding->place)), html(row.finding->message), html(row.result->probe->name),
                   html(marks_of(*row.finding)));
  }
  if (!rows.empty()) out += "</tbody></table></div>\n";
  return out + fmt::format("<script>{}</script></body></html>\n", kScript);
}

}  // namespace sallyport::jobs
