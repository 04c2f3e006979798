#include "jobs/validate/min_age.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "jobs/report/bounded_json.h"
#include "jobs/report/text.h"
#include "jobs/validate/lock_findings.h"

namespace sallyport::jobs {
namespace {

namespace chrono = std::chrono;

// Exactly `digits` digits and then `after`.
bool take(std::string_view& text, std::size_t digits, char after, int& value) {
  if (text.size() <= digits || text[digits] != after) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value);
  if (error != std::errc{} || end != text.data() + digits || value < 0) return false;
  text.remove_prefix(digits + 1);
  return true;
}

bool ends_in_utc(std::string_view rest) {
  if (rest.empty()) return true;
  if (!rest.ends_with('Z')) return false;
  rest.remove_suffix(1);
  return std::ranges::all_of(rest, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::optional<PublishTime> parse_time(std::string_view text) {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  if (!take(text, 4, '-', year) || !take(text, 2, '-', month) || !take(text, 2, 'T', day) ||
      !take(text, 2, ':', hour) || !take(text, 2, ':', minute)) {
    return std::nullopt;
  }
  const bool whole = take(text, 2, 'Z', second) && text.empty();
  if (!whole && !(take(text, 2, '.', second) && !text.empty() && ends_in_utc(text))) return std::nullopt;
  const chrono::year_month_day date{chrono::year(year), chrono::month(static_cast<unsigned>(month)),
                                    chrono::day(static_cast<unsigned>(day))};
  constexpr int kLeapSecond = 60;
  if (!date.ok() || hour > 23 || minute > 59 || second > kLeapSecond) return std::nullopt;
  return chrono::sys_days(date) + chrono::hours(hour) + chrono::minutes(minute) + chrono::seconds(second);
}

std::string time_text(PublishTime time) {
  const auto day = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

std::expected<VersionTimes, std::string> parse_times(std::string_view json) {
  const auto value = parse_bounded(json);
  if (!value) return std::unexpected(value.error());
  if (!value->is_object()) return std::unexpected("it is no JSON object");
  VersionTimes times;
  for (const auto& [version, text] : value->items()) {
    const auto* const written = text.get_ptr<const std::string*>();
    const std::optional<PublishTime> time = written == nullptr ? std::nullopt : parse_time(*written);
    if (time) times.emplace(version, *time);
  }
  return times;
}

std::vector<std::string> names_to_ask(const Lockfile& lock) {
  std::set<std::string> names;
  for (const LockedPackage& package : lock.packages) {
    if (is_fetched(package) && !package.version.empty()) names.insert(package.name);
  }
  return {names.begin(), names.end()};
}

std::vector<Finding> too_young(const Lockfile& lock, std::string_view lock_path,
                               const std::map<std::string, VersionTimes>& times, PublishTime newest) {
  std::vector<Finding> findings;
  for (const LockedPackage& package : lock.packages) {
    if (!is_fetched(package) || package.version.empty()) continue;
    const auto known = times.find(package.name);
    const auto time = known == times.end() ? VersionTimes::const_iterator() : known->second.find(package.version);
    const bool dated = known != times.end() && time != known->second.end();
    if (dated && time->second <= newest) continue;
    findings.push_back(lock_finding("lock-too-young",
                                    fmt::format("{}@{}: {}", shown(package.name), shown(package.version),
                                                dated ? fmt::format("published {}", time_text(time->second))
                                                      : std::string("its date of publication is unknown")),
                                    {.path = std::string(lock_path)}));
  }
  return sorted(std::move(findings));
}

}  // namespace sallyport::jobs
