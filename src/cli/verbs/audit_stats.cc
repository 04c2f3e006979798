// sallyport audit stats: what the log adds up to.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "audit/log_reader.h"
#include "cli/audit_verbs.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "core/json/lookup.h"
#include "core/json/picked.h"
#include "core/text/printable.h"

namespace sallyport::cli {
namespace {

struct StatsCommand {
  AuditPlace place{};
};

struct ToolStats {
  std::uint64_t runs = 0;
  std::map<std::string, std::uint64_t> outcomes{};
  std::vector<float> ms{};  // of each run; four bytes are little compared to a record
};

struct Totals {
  std::uint64_t records = 0;
  std::uint64_t runs = 0;
  std::map<std::string, std::uint64_t> outcomes{};
  std::map<std::string, ToolStats> tools{};
  std::map<std::string, std::uint64_t> denied{};
  std::string first{};
  std::string last{};
};

// Untrusted names: keep no more of them than a table could show.
constexpr std::size_t kMostNames = 10'000;

template <class Value>
Value& counted(std::map<std::string, Value>& names, const std::string& name) {
  static constexpr const char* kRest = "(others)";
  return names.size() < kMostNames || names.contains(name) ? names[name] : names[kRest];
}

std::string name_in(const Json& record, const char* name) {
  const Json& value = member(record, name);
  return value.is_structured() ? json_dump(value) : text_in(record, name);
}

void add_denials(Totals& totals, const Json& record) {
  for (const Json& denial : items_in(record, "denials")) {
    if (denial.is_object())
      counted(totals.denied, name_in(denial, "host")) += std::max<std::uint64_t>(1, count_in(denial, "count"));
  }
}

void add_record(Totals& totals, const Json& record) {
  const std::string kind = text_in(record, "kind");
  if (kind == "recovery" || kind == "intent" || kind == "job") return;
  const std::string outcome = has_member(record, "outcome") ? text_in(member(record, "outcome"), "outcome") : kind;
  ++totals.runs;
  ++counted(totals.outcomes, outcome);
  ToolStats& tool = counted(totals.tools, name_in(record, "tool"));
  ++tool.runs;
  ++counted(tool.outcomes, outcome);
  if (has_member(record, "duration_ms")) tool.ms.push_back(static_cast<float>(number_in(record, "duration_ms")));
  add_denials(totals, record);
}

Result<Totals> add_up(const audit::LogDirectory& directory) {
  Totals totals;
  audit::LogReader reader = TRY(audit::LogReader::open(directory));
  while (const std::optional<audit::LogRecord> record = TRY(reader.next())) {
    ++totals.records;
    if (totals.first.empty()) totals.first = record->line.time;
    totals.last = record->line.time;
    if (record->line.kind == "intent") continue;
    const Json json = picked(record->text, {"kind", "tool", "outcome.outcome", "duration_ms", "denials"});
    if (json.is_object()) add_record(totals, json);
  }
  for (auto& [name, tool] : totals.tools) std::ranges::sort(tool.ms);
  return totals;
}

// Nearest rank; `ms` is sorted.
double percentile(const std::vector<float>& ms, double share) {
  if (ms.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(ms.size())));
  return static_cast<double>(ms[std::min(ms.size(), std::max<std::size_t>(rank, 1)) - 1]);
}

// Empty for a tool that never started.
std::string percentile_text(const std::vector<float>& ms, double share) {
  return ms.empty() ? "-" : fmt::format("{:.1f}", percentile(ms, share));
}

std::string bar(std::uint64_t part, std::uint64_t whole) {
  constexpr std::uint64_t kWidth = 30;
  const std::uint64_t length = whole == 0 ? 0 : (part * kWidth + whole - 1) / whole;
  return std::string(length, '#');
}

using Counts = std::map<std::string, std::uint64_t>;

std::vector<std::pair<std::string, std::uint64_t>> by_count(const Counts& counts) {
  std::vector<std::pair<std::string, std::uint64_t>> rows(counts.begin(), counts.end());
  std::ranges::stable_sort(rows, std::greater(), [](const auto& row) { return row.second; });
  return rows;
}

std::string count_table(std::string_view title, const Counts& counts, std::uint64_t whole, std::size_t most) {
  std::string text = fmt::format("\n{}\n", title);
  std::size_t rows = 0;
  for (const auto& [name, count] : by_count(counts)) {
    if (rows++ == most) return text + fmt::format("  and {} more\n", counts.size() - most);
    text += fmt::format("  {:<24} {:>8}  {}\n", printable(name), count, bar(count, whole));
  }
  return text;
}

std::string stats_text(const Totals& totals) {
  constexpr std::size_t kMostRows = 20;
  std::string text = fmt::format("{} calls in {} records", totals.runs, totals.records);
  if (totals.records > 0) text += fmt::format(", {} to {}", totals.first, totals.last);
  text += "\n" + count_table("outcomes", totals.outcomes, totals.runs, kMostRows);
  text += fmt::format("\n{:<26} {:>8} {:>12} {:>12}\n", "tools", "calls", "p50 ms", "p95 ms");
  Counts calls;
  for (const auto& [name, tool] : totals.tools) calls[name] = tool.runs;
  std::size_t rows = 0;
  for (const auto& [name, count] : by_count(calls)) {
    if (rows++ == kMostRows) break;
    const ToolStats& tool = totals.tools.at(name);
    text += fmt::format("  {:<24} {:>8} {:>12} {:>12}  {}\n", printable(name), count, percentile_text(tool.ms, 0.5),
                        percentile_text(tool.ms, 0.95), bar(count, totals.runs));
  }
  if (totals.denied.empty()) return text;
  std::uint64_t denials = 0;
  for (const auto& [host, count] : totals.denied) denials += count;
  return text + count_table("denied hosts", totals.denied, denials, kMostRows);
}

Json stats_json(const Totals& totals) {
  Json tools = Json::array();
  for (const auto& [name, tool] : totals.tools) {
    tools.push_back({{"tool", json_text(name)},
                     {"calls", tool.runs},
                     {"outcomes", tool.outcomes},
                     {"p50_ms", percentile(tool.ms, 0.5)},
                     {"p95_ms", percentile(tool.ms, 0.95)}});
  }
  Json denied = Json::array();
  for (const auto& [host, count] : by_count(totals.denied))
    denied.push_back({{"host", json_text(host)}, {"count", count}});
  return {{"schema", "sallyport.audit_stats/1"},
          {"records", totals.records},
          {"calls", totals.runs},
          {"first", totals.first},
          {"last", totals.last},
          {"outcomes", totals.outcomes},
          {"tools", std::move(tools)},
          {"denied", std::move(denied)}};
}

int stats(const StatsCommand& command, const Environment& environment) {
  const Result<Totals> totals = [&]() -> Result<Totals> {
    const audit::LogDirectory directory = TRY(open_log(command.place, environment));
    return add_up(directory);
  }();
  if (!totals) return report(totals.error(), command.place.format);
  if (command.place.format == Format::kJson) return print_record(stats_json(*totals), kExitOk);
  return print_text(stats_text(*totals), kExitOk);
}

constexpr auto kStatsOptions =
    std::to_array<Option<StatsCommand>>({{{"--dir", Arity::kValue}, set_place_directory<StatsCommand>},
                                         {{"--json", Arity::kFlag}, set_place_json<StatsCommand>}});

}  // namespace

Result<Action> parse_audit_stats(Args args, Format& format) {
  StatsCommand command;
  if (!TRY(read_options(args, kStatsOptions, command, format))) return Action();
  return [command = std::move(command)](const Environment& environment) { return stats(command, environment); };
}

}  // namespace sallyport::cli
