// Every value a caller sees, as JSON; the shapes are documented in docs/json.md. Nothing here throws, whatever bytes
// the values hold. Keys keep the order they are written in, so a record begins with its schema, and its digest is
// stable.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "sallyport/allowlist.h"
#include "sallyport/event.h"
#include "sallyport/gate.h"
#include "sallyport/jail.h"
#include "sallyport/plan.h"
#include "sallyport/receipt.h"
#include "sallyport/result.h"
#include "sallyport/workspace.h"

namespace sallyport {

using Json = nlohmann::ordered_json;

// A string when the bytes are valid UTF-8, otherwise {"base64": "…"}: lossless either way. For argv and paths.
[[nodiscard]] Json json_text(std::string_view bytes);

[[nodiscard]] Json json_of(const ToolEntry& tool);
[[nodiscard]] Json json_of(const Plan& plan);
[[nodiscard]] Json json_of(const std::optional<UserIds>& ids);  // or null
[[nodiscard]] Json json_of(const Outcome& outcome);  // {"outcome": …, "exit_code" or "signal": …, "evidence": {…}}
[[nodiscard]] Json json_of(const Usage& usage);
[[nodiscard]] Json json_of(const BinaryIdentity& binary);
[[nodiscard]] Json json_of(const ImageFile& file);
[[nodiscard]] Json json_of(const ExecutableIdentity& executable);
[[nodiscard]] Json json_of(const Established& established);
[[nodiscard]] Json json_of(const Receipt& receipt);
[[nodiscard]] Json json_of(const Denial& denial);
[[nodiscard]] Json json_of(const GitFinding& finding);
[[nodiscard]] Json json_of(const Change& change);
[[nodiscard]] Json json_of(const PersistenceFinding& finding);
[[nodiscard]] Json json_of(const WorkspaceInfo& info);
[[nodiscard]] Json json_of(const Error& error);  // the object under "error"
[[nodiscard]] Json json_of(const Event& event);

// Whole records, each with its "schema".
[[nodiscard]] Json run_record(const JailedSubprocessResult& result);                            // sallyport.run/1
[[nodiscard]] Json error_record(const Error& error);                                            // sallyport.error/1
[[nodiscard]] Json explain_record(const Explanation& explanation);                              // sallyport.explain/1
[[nodiscard]] Json allowlist_record(const Allowlist& allowlist);                                // sallyport.allowlist/1
[[nodiscard]] Json workspace_diff_record(std::string_view name, const WorkspaceDiff& diff);     // …workspace_diff/1
[[nodiscard]] Json workspace_commit_record(std::string_view name, const CommitReport& report);  // …workspace_commit/1
[[nodiscard]] Json workspace_list_record(const std::vector<WorkspaceInfo>& workspaces);         // …workspace_list/1

// How to write a captured stream: as base64 when it is no text, or when escapes would need more room.
enum class StreamEncoding { kUtf8, kBase64 };
[[nodiscard]] StreamEncoding stream_encoding(std::string_view bytes);

// Writes the same record with its "events", compact, in pieces of less than 300 KiB, so that nothing copies whole
// streams. Stops and returns false when the sink returns false.
using JsonSink = std::function<bool(std::string_view)>;
[[nodiscard]] bool stream_run_record(const JailedSubprocessResult& result, const Json& events, const JsonSink& sink);
// The text of a record: one line, or indented for people. Never throws.
enum class JsonStyle { kCompact, kIndented };
[[nodiscard]] std::string json_dump(const Json& value, JsonStyle style = JsonStyle::kCompact);

// SHA-256 of the plan's compact JSON, and of the closed set's canonical text; both lower-case hex.
[[nodiscard]] std::string plan_digest(const Plan& plan);
[[nodiscard]] std::string policy_digest(const Allowlist& allowlist);

}  // namespace sallyport
