// What a job is given: the gate, the repo, and its bounds. Jobs start nothing themselves.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "jobs/report/outcome.h"
#include "sallyport/gate.h"

namespace sallyport::jobs {

struct JobContext {
  Gate* gate = nullptr;              // borrowed
  std::filesystem::path repo{};      // canonical; the gate's repo
  std::filesystem::path work_dir{};  // private, empty, outside the repo: for our own rules and configuration
  std::chrono::steady_clock::time_point deadline{};
  std::optional<ByteCount> memory{};  // of each tool
  std::vector<std::string> allowed_egress{};
  std::stop_token stop{};
};

struct ToolCall {
  std::string_view probe;  // the name it is known by in events
  std::vector<std::string> argv{};
  std::vector<std::filesystem::path> extra_read_only{};
  bool may_use_network = false;
  ByteCount max_output = kDefaultMaxOutput;
};

// A tool that ended by itself, with all it said. Anything else is an outcome already.
struct ToolAnswer {
  JailedSubprocessResult result{};
  Invocation invocation{};
  [[nodiscard]] std::string_view out() const { return result.stdout_stream.bytes; }
  [[nodiscard]] std::string_view err() const { return result.stderr_stream.bytes; }
};
using ToolRun = std::variant<ToolAnswer, ScannerOutcome>;

// The parts of run_tool, for a probe that takes more ends than one for an answer.
[[nodiscard]] ScannerOutcome outcome_of(const Error& error);
[[nodiscard]] ToolAnswer answer_of(std::vector<std::string> argv, JailedSubprocessResult result);
// Only a tool that ended by itself, and whose every word we have, has answered.
[[nodiscard]] std::optional<ScannerOutcome> why_no_answer(const ToolAnswer& answer);

// Runs it behind the best jail, until the job's deadline. Output that was cut off is ScannerFailed: half an answer is none.
[[nodiscard]] ToolRun run_tool(const JobContext& context, ToolCall call);

// ScannerFailed with the tool's last words.
[[nodiscard]] ScannerFailed failed(const ToolAnswer& answer, std::string why);
[[nodiscard]] ScannerFailed failed(std::string why);

[[nodiscard]] Error bad_request(std::string_view field, std::string_view why, std::string_view hint);

// A file of ours below the work directory. Its directories are made.
[[nodiscard]] Status write_own_file(const std::filesystem::path& path, std::string_view content);

}  // namespace sallyport::jobs
