#include <nlohmann/json.hpp>

#include "core/bytes/base64.h"
#include "core/json/json.h"
#include "core/role_name.h"
#include "core/text/utf8.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;
using std::chrono::microseconds;
using std::chrono::milliseconds;

double ms(microseconds duration) { return static_cast<double>(duration.count()) / 1000.0; }

template <class T>
Json array_of(const std::vector<T>& values) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(json_of(value));
  return array;
}

Json texts(const std::vector<std::string>& values) {
  Json array = Json::array();
  for (const std::string& value : values) array.push_back(json_text(value));
  return array;
}

Json path_texts(const std::vector<fs::path>& values) {
  Json array = Json::array();
  for (const fs::path& value : values) array.push_back(json_text(value.native()));
  return array;
}

Json bytes_or_null(const std::optional<ByteCount>& value) { return value ? Json(count(*value)) : Json(nullptr); }

std::string_view platform_name(Platform platform) {
  switch (platform) {
    case Platform::kAny:
      return "any";
    case Platform::kLinux:
      return "linux";
    case Platform::kMacOs:
      return "macos";
  }
  return "any";
}

Json limits_json(const Limits& limits) {
  return {{"wall_ms", limits.wall.count()},
          {"output_bytes", count(limits.output)},
          {"memory_bytes", bytes_or_null(limits.memory)},
          {"pids", limits.pids ? Json(*limits.pids) : Json(nullptr)},
          {"cpu_ms", limits.cpu ? Json(limits.cpu->count()) : Json(nullptr)},
          {"disk_bytes", bytes_or_null(limits.disk)}};
}

Json env_json(const std::vector<EnvVar>& env) {
  Json object = Json::object();
  for (const EnvVar& var : env) object[var.name] = json_text(var.value);
  return object;
}

std::string_view oom_by_name(OomBy by) {
  switch (by) {
    case OomBy::kCgroup:
      return "cgroup";
    case OomBy::kSocketBuffers:
      return "socket_buffers";
    case OomBy::kWatch:
      return "watch";
  }
  return "cgroup";
}

Json fate_json(const std::variant<ExitCode, Signal>& fate) {
  return std::visit(overloaded{[](const ExitCode& code) -> Json { return {{"exit_code", code.value}}; },
                               [](const Signal& signal) -> Json { return {{"signal", signal.number}}; }},
                    fate);
}

}  // namespace

Json json_text(std::string_view bytes) {
  if (is_valid_utf8(bytes)) return Json(bytes);
  return {{"base64", base64(bytes)}};
}

Json json_of(const ToolEntry& tool) {
  Json json = {{"name", json_text(tool.name)},
               {"role", role_name(tool.role)},
               {"decision_record", json_text(tool.decision_record)},
               {"reason", json_text(tool.reason)},
               {"need", tool.need == Need::kMandatory ? "mandatory" : "optional"},
               {"platform", platform_name(tool.platform)},
               {"hardening", tool.hardening},
               {"install_hint", json_text(tool.install_hint)}};
  if (tool.sha256) json["sha256"] = json_text(*tool.sha256);
  for (const HostRule& rule : tool.allowed_hosts) json["allow_hosts"].push_back(json_text(host_rule_text(rule)));
  return json;
}

Json json_of(const std::optional<UserIds>& ids) {
  if (!ids) return nullptr;
  return {{"uid", ids->uid}, {"gid", ids->gid}};
}

// Leaves out the private part's path and running number, so that two runs of one workspace have the same plan.
Json layers_json(const std::vector<PrivateLayer>& layers) {
  Json array = Json::array();
  for (const PrivateLayer& layer : layers) {
    array.push_back({{"over", json_text(layer.over.native())}, {"mechanism", layer.is_overlay() ? "overlay" : "copy"}});
  }
  return array;
}

Json json_of(const Plan& plan) {
  const std::optional<RegistryCredentials>& auth = plan.registry_credentials;
  Json required = Json::array();
  for (const Guarantee guarantee : plan.required) required.push_back(name_of(guarantee));
  Json hosts = Json::array();
  for (const HostRule& rule : plan.allowed_hosts) hosts.push_back(json_text(host_rule_text(rule)));
  return {{"tool", json_of(plan.tool)},
          {"argv", texts(plan.argv)},
          {"env", env_json(plan.env)},
          {"repo", json_text(plan.repo.native())},
          {"cwd", json_text(plan.cwd.native())},
          {"repo_access", plan.repo_access == RepoAccess::kWritable ? "writable" : "read_only"},
          {"layers", layers_json(plan.layers)},
          {"git_access", plan.git_access == GitAccess::kWritable ? "writable" : "protected"},
          {"run_as", json_of(plan.run_as)},
          {"speculation", plan.speculation == Speculation::kAllowed ? "allowed" : "forbidden"},
          {"package_scripts", plan.allow_package_scripts ? "allowed" : "ignored"},
          {"extra_read_only", path_texts(plan.extra_read_only)},
          {"extra_read_write", path_texts(plan.extra_read_write)},
          {"hidden", path_texts(plan.hidden)},
          {"no_exec", path_texts(plan.no_exec)},
          {"allowed_hosts", std::move(hosts)},
          {"via_proxy", plan.via_proxy ? Json(proxy_text(*plan.via_proxy)) : Json(nullptr)},
          {"registry_auth", auth ? json_text(auth->registry()) : Json(nullptr)},
          {"strict_network", plan.strict_network},
          {"extra_ca", plan.extra_ca ? json_text(plan.extra_ca->native()) : Json(nullptr)},
          {"limits", limits_json(plan.limits)},
          {"stop_grace_ms", plan.ladder.grace.count()},
          {"open_files", plan.open_files ? Json(*plan.open_files) : Json(nullptr)},
          {"required", std::move(required)},
          {"probe", plan.probe ? Json(plan.probe->str()) : Json(nullptr)},
          {"lists_git_configuration", plan.lists_git_configuration}};
}

Json json_of(const Outcome& outcome) {
  Json json = {{"outcome", outcome_name(outcome)}};
  Json evidence = std::visit(
      overloaded{
          [&](const Completed& completed) -> Json {
            json.update(fate_json(completed.fate));
            return fate_json(completed.fate);
          },
          [](const TimedOut& timed_out) -> Json {
            return {{"elapsed_ms", timed_out.elapsed.count()}, {"limit_ms", timed_out.limit.count()}};
          },
          [&](const OomKilled& oom) -> Json {
            Json seen = {{"by", oom_by_name(oom.by)}, {"oom_kills", oom.oom_kills}, {"limit_bytes", oom.limit_bytes}};
            if (oom.measured_bytes > 0) seen["measured_bytes"] = oom.measured_bytes;
            if (oom.socket_bytes > 0) seen["socket_bytes"] = oom.socket_bytes;
            if (oom.fate) json.update(fate_json(*oom.fate));
            if (oom.fate) seen.update(fate_json(*oom.fate));
            return seen;
          },
          [](const NetworkDenied& denied) -> Json { return {{"host", json_text(denied.host)}, {"port", denied.port}}; },
          [](const DiskQuotaExceeded& disk) -> Json {
            return {{"bytes_used", disk.bytes_used},
                    {"quota_bytes", disk.quota_bytes},
                    {"files_used", disk.files_used},
                    {"quota_files", disk.quota_files}};
          },
          [](const Cancelled& cancelled) -> Json { return {{"elapsed_ms", cancelled.elapsed.count()}}; },
      },
      outcome);
  json["evidence"] = std::move(evidence);
  return json;
}

Json json_of(const Usage& usage) {
  return {{"user_ms", ms(usage.user)}, {"system_ms", ms(usage.system)}, {"peak_rss_bytes", usage.peak_rss_bytes}};
}

Json json_of(const BinaryIdentity& binary) {
  return {{"path", json_text(binary.path)}, {"device", binary.device},
          {"inode", binary.inode},          {"size", binary.size},
          {"mtime_ns", binary.mtime_ns},    {"sha256", json_text(binary.sha256)}};
}

Json json_of(const ImageFile& file) {
  return {{"image", json_text(file.image)}, {"digest", json_text(file.digest)}, {"path", json_text(file.path)}};
}

Json json_of(const ExecutableIdentity& executable) {
  return std::visit([](const auto& file) { return json_of(file); }, executable);
}

Json json_of(const Established& established) {
  return {{"name", name_of(established.guarantee)}, {"mechanism", name_of(established.mechanism)}};
}

Json json_of(const Receipt& receipt) {
  return {{"jail", json_text(receipt.jail.name())},
          {"guarantees", array_of(receipt.established)},
          {"binary", json_of(receipt.binary)},
          {"interpreters", array_of(receipt.interpreters)},
          {"run_as", json_of(receipt.run_as)},
          {"policy_digest", json_text(receipt.policy_digest)},
          {"plan_digest", json_text(receipt.plan_digest)}};
}

Json json_of(const Denial& denial) {
  return {{"host", json_text(denial.host)},
          {"port", denial.port},
          {"reason", reason_text(denial)},
          {"hint", json_text(denial.hint)},
          {"count", denial.count},
          {"time_ms", std::chrono::duration_cast<std::chrono::milliseconds>(denial.time.time_since_epoch()).count()}};
}

Json json_of(const GitFinding& finding) {
  return {{"path", json_text(finding.path)}, {"what", json_text(finding.what)}, {"action", json_text(finding.action)}};
}

Json json_of(const Event& event) {
  Json fields = Json::object();
  for (const auto& [name, value] : event.fields) fields[std::string(name)] = json_text(value);
  return {{"level", event.level == EventLevel::kWarning ? "warning" : "debug"},
          {"name", event.name},
          {"fields", std::move(fields)}};
}

}  // namespace sallyport
