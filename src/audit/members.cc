#include "audit/members.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "audit/repo_commit.h"
#include "core/audit/redact.h"
#include "core/bytes/sha256.h"
#include "core/errors.h"
#include "core/json/json.h"
#include "core/text/utf8.h"

namespace sallyport::audit {
namespace {

// Bounds that keep every record below kLongestRecord, whatever a caller or a tool chose: a byte takes up to six as JSON.
constexpr std::size_t kLongestText = 2048;
constexpr std::size_t kAllTexts = 64 * 1024;
constexpr std::size_t kMostItems = 64;
constexpr std::size_t kMostArguments = 256;
constexpr std::string_view kNoRun = "00000000000000000000000000000000";

// One record's texts: redacted, and bounded together.
class Cleaner {
 public:
  explicit Cleaner(std::span<const std::string> argv) : redacted_(redact_argv(argv)) {}

  [[nodiscard]] const RedactedArgv& redacted() const { return redacted_; }

  // Redacted first, so that no cut goes through what a rule would have known.
  [[nodiscard]] Json text(std::string_view bytes) { return bounded(redact_text(bytes, redacted_.secrets)); }

  // Every string of a tree, and no list longer than a bound; what is left out is counted.
  [[nodiscard]] Json tree(Json value) {
    if (value.is_string()) return text(value.get_ref<const std::string&>());
    if (value.is_array() && value.size() > kMostItems) {
      const std::size_t left_out = value.size() - kMostItems;
      value.erase(value.begin() + static_cast<std::ptrdiff_t>(kMostItems), value.end());
      value.push_back(fmt::format("[+{} items]", left_out));
    }
    if (!value.is_structured()) return value;
    for (Json& item : value) item = tree(std::move(item));
    return value;
  }

  [[nodiscard]] Json paths(const std::vector<std::filesystem::path>& paths) {
    Json list = Json::array();
    for (const auto& path : paths) list.push_back(json_text(path.native()));
    return tree(std::move(list));
  }

  [[nodiscard]] Json argv() {
    Json list = Json::array();
    for (const std::string& word : redacted_.argv) {
      if (list.size() == kMostArguments) break;
      list.push_back(bounded(word));
    }
    const std::size_t left_out = redacted_.argv.size() - list.size();
    if (left_out > 0) list.push_back(fmt::format("[+{} arguments]", left_out));
    return list;
  }

 private:
  [[nodiscard]] Json bounded(std::string kept) {
    const std::size_t most = std::min(kLongestText, left_);
    if (kept.size() > most) {
      const std::size_t whole = kept.size();
      std::size_t end = most;
      const bool is_text = is_valid_utf8(kept);
      while (is_text && end > 0 && (static_cast<unsigned char>(kept[end]) & 0xC0U) == 0x80U) --end;
      kept = fmt::format("{}[+{} bytes]", kept.substr(0, end), whole - end);
    }
    left_ -= std::min(left_, kept.size());
    return json_text(kept);
  }

  RedactedArgv redacted_;
  std::size_t left_ = kAllTexts;
};

Json limits_of(const Limits& limits) {
  Json json = {{"wall_ms", limits.wall.count()}, {"output_bytes", count(limits.output)}};
  if (limits.memory) json["memory_bytes"] = count(*limits.memory);
  if (limits.pids) json["pids"] = *limits.pids;
  if (limits.cpu) json["cpu_ms"] = limits.cpu->count();
  if (limits.disk) json["disk_bytes"] = count(*limits.disk);
  return json;
}

const std::filesystem::path& repo_of(const AuditCall& call) { return call.repo.empty() ? call.spec.repo : call.repo; }

Json request_json(const AuditCall& call, Cleaner& clean) {
  const JailedSubprocessSpec& spec = call.spec;
  Json env = Json::array();
  for (const EnvVar& var : spec.env_extras) env.push_back(json_text(var.name));
  Json hosts = Json::array();
  for (const HostRule& rule : spec.allowed_hosts) hosts.push_back(json_text(host_rule_text(rule)));
  for (const std::string& rule : spec.allowed_egress) hosts.push_back(json_text(rule));
  Json required = Json::array();
  for (const Guarantee guarantee : spec.required) required.push_back(name_of(guarantee));
  const std::optional<std::string> commit = repo_commit(repo_of(call));
  return {{"argv", clean.argv()},
          {"redacted", clean.redacted().count},
          {"cwd", clean.text(spec.cwd.native())},
          {"repo", clean.text(repo_of(call).native())},
          {"commit", commit ? Json(*commit) : Json(nullptr)},
          {"writable_repo", spec.repo_access == RepoAccess::kWritable},
          {"read_only", clean.paths(spec.extra_read_only)},
          {"read_write", clean.paths(spec.extra_read_write)},
          {"env", clean.tree(std::move(env))},
          {"hosts", clean.tree(std::move(hosts))},
          {"registry", spec.allow_registry},
          {"limits", limits_of(spec.limits)},
          {"required", clean.tree(std::move(required))},
          {"jail", clean.text(call.jail.name())},
          {"unjailed_allowed", spec.allow_unjailed.has_value()}};
}

// The members that stand in every record of a call, in the order that readers count on.
Json common(std::string_view kind, const std::string& run, const Writer& writer, const AuditCall& call,
            Cleaner& clean) {
  const JailedSubprocessSpec& spec = call.spec;
  const std::string_view tool = spec.argv.empty() ? std::string_view() : std::string_view(spec.argv.front());
  return {{"time", time_text(std::chrono::system_clock::now())},
          {"kind", kind},
          {"run", run},
          {"host", clean.text(writer.host)},
          {"pid", ::getpid()},
          {"uid", ::geteuid()},
          {"label", clean.text(writer.label)},
          {"probe", spec.probe ? clean.text(*spec.probe) : Json(nullptr)},
          {"tool", clean.text(tool)},
          {"repo", clean.text(repo_of(call).native())},
          {"policy_digest", call.policy_digest.empty() ? Json(nullptr) : Json(call.policy_digest)}};
}

Json stream_json(const CapturedStream& stream) {
  return {{"bytes", stream.total_bytes}, {"truncated", stream.truncated}, {"sha256", sha256_hex(stream.bytes)}};
}

// Nothing but ASCII: neither a reader's idea of a line nor a terminal's of a command can be met by what it holds.
std::string ascii_text(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

void add_result(Json& json, const JailedSubprocessResult& result, Cleaner& clean) {
  json["outcome"] = clean.tree(json_of(result.outcome));
  json["duration_ms"] = static_cast<double>(result.duration.count()) / 1000.0;
  json["usage"] = json_of(result.usage);
  json["stdout"] = stream_json(result.stdout_stream);
  json["stderr"] = stream_json(result.stderr_stream);
  json["receipt"] = clean.tree(json_of(result.receipt));
  Json denials = Json::array();
  for (const Denial& denial : result.denials) denials.push_back(json_of(denial));
  json["denials"] = clean.tree(std::move(denials));
  Json findings = Json::array();
  for (const GitFinding& finding : result.git_findings) findings.push_back(json_of(finding));
  json["git_findings"] = clean.tree(std::move(findings));
}

}  // namespace

Writer this_writer(std::string label) {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) name = {'?'};
  return {.host = name.data(), .label = std::move(label)};
}

Result<std::string> fresh_run_id() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != std::ssize(bytes)) {
    return fail(system_error("get", "random bytes", errno));
  }
  std::string id;
  for (const unsigned char byte : bytes) id += fmt::format("{:02x}", byte);
  return id;
}

std::string time_text(std::chrono::system_clock::time_point time) {
  using namespace std::chrono;
  const auto whole = floor<days>(time);
  const year_month_day date(whole);
  const hh_mm_ss clock(floor<microseconds>(time - whole));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

std::string intent_members(const std::string& run, const Writer& writer, const AuditCall& call) {
  Cleaner clean(call.spec.argv);
  Json json = common("intent", run, writer, call, clean);
  json["request"] = request_json(call, clean);
  return ascii_text(json);
}

std::string end_members(const std::string& run, const Writer& writer, const AuditCall& call,
                        const Result<JailedSubprocessResult>& result) {
  Cleaner clean(call.spec.argv);
  if (result) {
    Json json = common("result", run, writer, call, clean);
    add_result(json, *result, clean);
    return ascii_text(json);
  }
  // The jail died under a tool that had started; everything else kept it from starting.
  const bool had_started = result.error().as<JailDied>() != nullptr;
  Json json = common(had_started ? "failure" : "refusal", run, writer, call, clean);
  json["error"] = clean.tree(json_of(result.error()));
  return ascii_text(json);
}

std::string refusal_members(const std::string& run, const Writer& writer, const AuditCall& call, const Error& why) {
  Cleaner clean(call.spec.argv);
  Json json = common("refusal", run, writer, call, clean);
  json["request"] = request_json(call, clean);
  json["error"] = clean.tree(json_of(why));
  return ascii_text(json);
}

namespace {

Json recovery() {
  return {{"time", time_text(std::chrono::system_clock::now())},
          {"kind", "recovery"},
          {"run", kNoRun},
          {"pid", ::getpid()},
          {"uid", ::geteuid()}};
}

}  // namespace

std::string recovery_members(const TornTail& torn) {
  Json json = recovery();
  json["torn"] = {{"file", torn.file}, {"bytes", torn.bytes}, {"sha256", torn.sha256}};
  return ascii_text(json);
}

std::string rebuilt_members() {
  Json json = recovery();
  json["head"] = "rebuilt";
  return ascii_text(json);
}

}  // namespace sallyport::audit
