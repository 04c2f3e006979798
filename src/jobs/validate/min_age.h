// A cooldown: finds versions that the registry published too recently. Pure; the times come from `npm view NAME time`.
#pragma once

#include <chrono>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/report/finding.h"
#include "jobs/validate/lockfile.h"

namespace sallyport::jobs {

using PublishTime = std::chrono::sys_seconds;

// "2024-05-01T12:30:00.123Z", as registries write it. Nothing else.
[[nodiscard]] std::optional<PublishTime> parse_time(std::string_view text);
// The same without the fraction: for npm's --before.
[[nodiscard]] std::string time_text(PublishTime time);

// Version -> time, of what `npm view NAME time --json` printed.
using VersionTimes = std::map<std::string, PublishTime>;
[[nodiscard]] std::expected<VersionTimes, std::string> parse_times(std::string_view json);

// The names whose times must be asked for: fetched packages with a version, each once, sorted.
[[nodiscard]] std::vector<std::string> names_to_ask(const Lockfile& lock);

// A version that the registry does not know the time of is too young.
[[nodiscard]] std::vector<Finding> too_young(const Lockfile& lock, std::string_view lock_path,
                                             const std::map<std::string, VersionTimes>& times, PublishTime newest);

}  // namespace sallyport::jobs
