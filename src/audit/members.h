// What each kind of record says (docs/audit.md, docs/audit.schema.json), as the text of a JSON object from "time" on.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "audit/scan.h"
#include "core/json/json.h"
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
// InvalidRequest when an id or a digest of it is none.
[[nodiscard]] Status check_job(const AuditJob& job);
// How a job ended; its id stands where a call has its run's.
[[nodiscard]] std::string job_members(const Writer& writer, const AuditJob& job);
[[nodiscard]] std::string recovery_members(const TornTail& torn);
// The head was damaged, and was made anew from the records.
[[nodiscard]] std::string rebuilt_members();

// Nothing but ASCII: neither a reader's idea of a line nor a terminal's of a command can be met by what it holds.
[[nodiscard]] std::string record_text(const Json& json);

// "2026-11-17T15:47:54.123456Z"
[[nodiscard]] std::string time_text(std::chrono::system_clock::time_point time);

}  // namespace sallyport::audit
