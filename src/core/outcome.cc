#include "sallyport/outcome.h"

namespace sallyport {

std::string_view outcome_name(const Outcome& outcome) {
  using std::string_view;
  return std::visit(overloaded{
                        [](const Completed&) -> string_view { return "completed"; },
                        [](const TimedOut&) -> string_view { return "timed_out"; },
                        [](const OomKilled&) -> string_view { return "oom_killed"; },
                        [](const NetworkDenied&) -> string_view { return "network_denied"; },
                        [](const DiskQuotaExceeded&) -> string_view { return "disk_quota_exceeded"; },
                        [](const Cancelled&) -> string_view { return "cancelled"; },
                    },
                    outcome);
}

}  // namespace sallyport
