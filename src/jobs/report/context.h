// The inputs of a job: the gate, the repo, and its limits. Jobs start nothing themselves.
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

// A tool that ended by itself, with its whole output. Everything else is already an outcome.
struct ToolAnswer {
  JailedSubprocessResult result{};
  Invocation invocation{};
  [[nodiscard]] std::string_view out() const { return result.stdout_stream.bytes; }
  [[nodiscard]] std::string_view err() const { return result.stderr_stream.bytes; }
};
using ToolRun = std::variant<ToolAnswer, ScannerOutcome>;

// The parts of run_tool, for a probe that accepts several kinds of end.
[[nodiscard]] ScannerOutcome outcome_of(const Error& error);
[[nodiscard]] ToolAnswer answer_of(std::vector<std::string> argv, JailedSubprocessResult result);
// A tool has answered only if it ended by itself and we have its whole output.
[[nodiscard]] std::optional<ScannerOutcome> why_no_answer(const ToolAnswer& answer);

// Runs it in the best jail, until the job's deadline. Cut-off output gives ScannerFailed: a partial answer does not
// count.
[[nodiscard]] ToolRun run_tool(const JobContext& context, ToolCall call);

// ScannerFailed with the end of the tool's output.
[[nodiscard]] ScannerFailed failed(const ToolAnswer& answer, std::string why);
[[nodiscard]] ScannerFailed failed(std::string why);

[[nodiscard]] Error bad_request(std::string_view field, std::string_view why, std::string_view hint);

// A file of ours below the work directory. Its directories are made.
[[nodiscard]] Status write_own_file(const std::filesystem::path& path, std::string_view content);

}  // namespace sallyport::jobs
