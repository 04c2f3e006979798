#include "audit/members.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "audit/cleaner.h"
#include "core/bytes/sha256.h"
#include "core/errors.h"
#include "core/json/json.h"

namespace sallyport::audit {
namespace {

constexpr std::string_view kNoRun = "00000000000000000000000000000000";

Json limits_of(const Limits& limits) {
  Json json = {{"wall_ms", limits.wall.count()}, {"output_bytes", count(limits.output)}};
  if (limits.memory) json["memory_bytes"] = count(*limits.memory);
  if (limits.pids) json["pids"] = *limits.pids;
  if (limits.cpu) json["cpu_ms"] = limits.cpu->count();
  if (limits.disk) json["disk_bytes"] = count(*limits.disk);
  return json;
}

const std::filesystem::path& repo_of(const AuditCall& call) { return call.repo.empty() ? call.spec.repo : call.repo; }

// What the caller asked for that lets the tool do more, or do it with the operator's means; hosts, paths and variables
// have members of their own.
Json weakened_by(const JailedSubprocessSpec& spec) {
  Json names = Json::array();
  const auto add_if = [&names](bool asked, std::string_view name) {
    if (asked) names.push_back(name);
  };
  add_if(spec.git_access != GitAccess::kProtected, "git_writable");
  add_if(spec.allow_package_scripts.has_value(), "package_scripts");
  add_if(spec.registry_auth || spec.registry_credentials, "registry_credentials");
  add_if(spec.via_proxy.has_value(), "proxy");
  add_if(spec.extra_ca.has_value(), "extra_ca");
  add_if(std::holds_alternative<RawStdinFd>(spec.stdin_source), "raw_stdin");
  add_if(spec.speculation != Speculation::kForbidden, "speculation");
  return names;
}

Json request_json(const AuditCall& call, Cleaner& clean) {
  const JailedSubprocessSpec& spec = call.spec;
  Json env = Json::array();
  for (const EnvVar& var : spec.env_extras) env.push_back(json_text(var.name));
  Json hosts = Json::array();
  for (const HostRule& rule : spec.allowed_hosts) hosts.push_back(json_text(host_rule_text(rule)));
  for (const std::string& rule : spec.allowed_egress) hosts.push_back(json_text(rule));
  Json required = Json::array();
  for (const Guarantee guarantee : spec.required) required.push_back(name_of(guarantee));
  return {{"argv", clean.argv()},
          {"redacted", clean.redacted().count},
          {"cwd", clean.text(spec.cwd.native())},
          {"repo", clean.text(repo_of(call).native())},
          {"commit", call.commit ? Json(*call.commit) : Json(nullptr)},
          {"writable_repo", spec.repo_access == RepoAccess::kWritable},
          {"read_only", clean.paths(spec.extra_read_only)},
          {"read_write", clean.paths(spec.extra_read_write)},
          {"env", clean.tree(std::move(env))},
          {"hosts", clean.tree(std::move(hosts))},
          {"registry", spec.allow_registry || spec.registry_auth},
          {"weakened", weakened_by(spec)},
          {"workspace", call.workspace ? clean.text(*call.workspace) : Json(nullptr)},
          {"limits", limits_of(spec.limits)},
          {"required", clean.tree(std::move(required))},
          {"jail", clean.text(call.jail.name())},
          {"unjailed_allowed", spec.allow_unjailed.has_value()}};
}

// The members of every record of a call, in the order on which readers rely.
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
          {"job", call.job.empty() ? Json(nullptr) : Json(call.job)},
          {"probe", spec.probe ? clean.text(*spec.probe) : Json(nullptr)},
          {"tool", clean.text(tool)},
          {"repo", clean.text(repo_of(call).native())},
          {"policy_digest", call.policy_digest.empty() ? Json(nullptr) : Json(call.policy_digest)}};
}

Json stream_json(const CapturedStream& stream) {
  return {{"bytes", stream.total_bytes}, {"truncated", stream.truncated}, {"sha256", sha256_hex(stream.bytes)}};
}

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

std::string record_text(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

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
  namespace chrono = std::chrono;
  const auto whole = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date(whole);
  const chrono::hh_mm_ss clock(chrono::floor<chrono::microseconds>(time - whole));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

std::string intent_members(const std::string& run, const Writer& writer, const AuditCall& call) {
  Cleaner clean(call.spec.argv);
  Json json = common("intent", run, writer, call, clean);
  json["request"] = request_json(call, clean);
  return record_text(json);
}

std::string end_members(const std::string& run, const Writer& writer, const AuditCall& call,
                        const Result<JailedSubprocessResult>& result) {
  Cleaner clean(call.spec.argv);
  if (result) {
    Json json = common("result", run, writer, call, clean);
    add_result(json, *result, clean);
    return record_text(json);
  }
  Json json = common(result.error().tool_may_have_started ? "failure" : "refusal", run, writer, call, clean);
  json["error"] = clean.tree(json_of(result.error()));
  return record_text(json);
}

std::string refusal_members(const std::string& run, const Writer& writer, const AuditCall& call, const Error& why) {
  Cleaner clean(call.spec.argv);
  Json json = common("refusal", run, writer, call, clean);
  json["request"] = request_json(call, clean);
  json["error"] = clean.tree(json_of(why));
  return record_text(json);
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
  return record_text(json);
}

std::string rebuilt_members() {
  Json json = recovery();
  json["head"] = "rebuilt";
  return record_text(json);
}

}  // namespace sallyport::audit
