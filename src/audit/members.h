// The content of each kind of record (docs/audit.md, docs/audit.schema.json), as the text of a JSON object from "time"
// on.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "audit/scan.h"
#include "core/json/json.h"
#include "sallyport/audit.h"

namespace sallyport::audit {

// The writer of the records, the same for a whole process.
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
// For a call without an intent record: includes the request.
[[nodiscard]] std::string refusal_members(const std::string& run, const Writer& writer, const AuditCall& call,
                                          const Error& why);
// InvalidRequest when one of its ids or digests is malformed.
[[nodiscard]] Status check_job(const AuditJob& job);
// How a job ended; its id is in the place of a call's run id.
[[nodiscard]] std::string job_members(const Writer& writer, const AuditJob& job);
[[nodiscard]] std::string recovery_members(const TornTail& torn);
// The head was damaged, and was made anew from the records.
[[nodiscard]] std::string rebuilt_members();

// ASCII only, so that no content can split a line for a reader or form a command for a terminal.
[[nodiscard]] std::string record_text(const Json& json);

// "2026-11-17T15:47:54.123456Z"
[[nodiscard]] std::string time_text(std::chrono::system_clock::time_point time);

}  // namespace sallyport::audit
