// What each kind of record says (docs/audit.md, docs/audit.schema.json), as the text of a JSON object from "time" on.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "audit/scan.h"
#include "sallyport/audit.h"

namespace sallyport::audit {

// Who writes, the same for a whole process.
struct Writer {
  std::string host{};
  std::string label{};
};
[[nodiscard]] Writer this_writer(std::string label);

// 32 hex digits, at random.
[[nodiscard]] Result<std::string> fresh_run_id();

[[nodiscard]] std::string intent_members(const std::string& run, const Writer& writer, const AuditCall& call);
[[nodiscard]] std::string end_members(const std::string& run, const Writer& writer, const AuditCall& call,
                                      const Result<JailedSubprocessResult>& result);
// Of a call that never had an intent: the request stands in it.
[[nodiscard]] std::string refusal_members(const std::string& run, const Writer& writer, const AuditCall& call,
                                          const Error& why);
[[nodiscard]] std::string recovery_members(const TornTail& torn);
// The head was damaged, and was made anew from the records.
[[nodiscard]] std::string rebuilt_members();

// "2026-11-17T15:47:54.123456Z"
[[nodiscard]] std::string time_text(std::chrono::system_clock::time_point time);

}  // namespace sallyport::audit
