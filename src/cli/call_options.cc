#include "cli/call_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "cli/container_choice.h"
#include "cli/option_table.h"
#include "core/errors.h"
#include "core/parse_units.h"
#include "core/text/did_you_mean.h"

namespace sallyport::cli {
namespace {

// "did you mean …?", or the whole choice when nothing is near.
template <class Table>
std::string hint_for(std::string_view typed, const Table& table) {
  std::vector<std::string_view> names;
  for (const auto& entry : table) names.push_back(entry.name);
  std::string hint = did_you_mean(typed, names);
  return hint.empty() ? fmt::format("one of: {}", fmt::join(names, ", ")) : hint;
}

Status set_jail(CallOptions& call, std::string_view value) {
  call.jail = JailKind(value);
  return {};
}

Status add_required(CallOptions& call, std::string_view value) {
  while (true) {
    const std::size_t comma = value.find(',');
    const std::string_view name = value.substr(0, comma);
    const std::optional<Guarantee> guarantee = guarantee_named(name);
    if (!guarantee) {
      return fail(
          invalid_request("require", fmt::format("there is no guarantee '{}'", name), hint_for(name, kGuarantees)));
    }
    call.required.push_back(*guarantee);
    if (comma == std::string_view::npos) return {};
    value.remove_prefix(comma + 1);
  }
}

Status add_env(CallOptions& call, std::string_view value) {
  const std::size_t equals = value.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return fail(invalid_request("env", fmt::format("'{}' is not NAME=VALUE", value), "write --env NAME=VALUE"));
  }
  call.env.push_back({.name = std::string(value.substr(0, equals)), .value = std::string(value.substr(equals + 1))});
  return {};
}

Status add_host(CallOptions& call, std::string_view value) {
  call.allowed_egress.emplace_back(value);
  return {};
}

Status set_via_proxy(CallOptions& call, std::string_view value) {
  call.proxy_of_environment = value == "env";
  if (!call.proxy_of_environment) call.via_proxy = UpstreamProxyText{.url = std::string(value)};
  return {};
}

Status set_pids(CallOptions& call, std::string_view value) {
  std::uint32_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [after, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc{} || after != end) {
    return fail(invalid_request("pids", fmt::format("'{}' is not a number of processes", value), "e.g. --pids 128"));
  }
  call.pids = number;
  return {};
}

Status set_nofile(CallOptions& call, std::string_view value) {
  std::uint32_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [after, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc{} || after != end) {
    return fail(
        invalid_request("nofile", fmt::format("'{}' is not a number of open files", value), "e.g. --nofile 1024"));
  }
  call.open_files = number;
  return {};
}

Status set_grace(CallOptions& call, std::string_view value) {
  call.grace = TRY(parse_duration(value, "grace"));
  return {};
}

Status set_json_stream(CallOptions& call, std::string_view /*value*/) {
  call.format = Format::kJson;
  call.json_stream = true;
  return {};
}

Status set_timeout(CallOptions& call, std::string_view value) {
  call.timeout = TRY(parse_duration(value, "timeout"));
  return {};
}

Status set_cpu(CallOptions& call, std::string_view value) {
  call.cpu = TRY(parse_duration(value, "cpu"));
  return {};
}

Status set_max_output(CallOptions& call, std::string_view value) {
  call.max_output = TRY(parse_bytes(value, "max-output"));
  return {};
}

Status set_memory(CallOptions& call, std::string_view value) {
  call.memory = TRY(parse_bytes(value, "memory"));
  return {};
}

Status set_disk(CallOptions& call, std::string_view value) {
  call.disk = TRY(parse_bytes(value, "disk"));
  return {};
}

Status set_workspace(CallOptions& call, std::string_view value) {
  call.workspace = std::string(value);
  return {};
}

Status set_audit(CallOptions& call, std::string_view value) {
  call.audit.directory = std::filesystem::path(value);
  return {};
}

Status set_no_audit(CallOptions& call, std::string_view /*value*/) {
  call.audit.off = true;
  return {};
}

Status set_sync(CallOptions& call, std::string_view value) { return set_audit_sync(call.audit, value); }

Status set_audit_may_fail(CallOptions& call, std::string_view /*value*/) {
  call.audit.on_failure = AuditFailure::kGoOn;
  return {};
}

constexpr auto kOptions = std::to_array<Option<CallOptions>>({
    {{"--repo", Arity::kValue}, set_path<&CallOptions::repo>},
    {{"--cwd", Arity::kValue}, set_path<&CallOptions::cwd>},
    {{"--policy", Arity::kValue}, set_path<&CallOptions::policy>},
    {{"--timeout", Arity::kValue}, set_timeout},
    {{"--max-output", Arity::kValue}, set_max_output},
    {{"--memory", Arity::kValue}, set_memory},
    {{"--pids", Arity::kValue}, set_pids},
    {{"--cpu", Arity::kValue}, set_cpu},
    {{"--disk", Arity::kValue}, set_disk},
    {{"--probe", Arity::kValue}, set_text<&CallOptions::probe>},
    {{"--jail", Arity::kValue}, set_jail},
    {{"--image", Arity::kValue}, set_image<CallOptions>},
    {{"--engine", Arity::kValue}, set_engine<CallOptions>},
    {{"--engine-arg", Arity::kRepeatable}, add_engine_arg<CallOptions>},
    {{"--host-tool", Arity::kFlag}, set_host_tool<CallOptions>},
    {{"--require", Arity::kRepeatable}, add_required},
    {{"--nofile", Arity::kValue}, set_nofile},
    {{"--grace", Arity::kValue}, set_grace},
    {{"--receipt", Arity::kValue}, set_path<&CallOptions::receipt>},
    {{"--json-stream", Arity::kFlag}, set_json_stream},
    {{"--hide", Arity::kRepeatable}, add_path<&CallOptions::hidden>},
    {{"--noexec", Arity::kRepeatable}, add_path<&CallOptions::no_exec>},
    {{"--rw", Arity::kRepeatable}, add_path<&CallOptions::read_write>},
    {{"--ro", Arity::kRepeatable}, add_path<&CallOptions::read_only>},
    {{"--allow-host", Arity::kRepeatable}, add_host},
    {{"--allow-registry", Arity::kFlag}, set_flag<&CallOptions::allow_registry, true>},
    {{"--registry-auth", Arity::kFlag}, set_flag<&CallOptions::registry_auth, true>},
    {{"--via-proxy", Arity::kValue}, set_via_proxy},
    {{"--ca", Arity::kValue}, set_path<&CallOptions::extra_ca>},
    {{"--strict-network", Arity::kFlag}, set_flag<&CallOptions::strict_network, true>},
    {{"--env", Arity::kRepeatable}, add_env},
    {{"--allow-unjailed", Arity::kFlag}, set_flag<&CallOptions::allow_unjailed, true>},
    {{"--workspace", Arity::kValue}, set_workspace},
    {{"--workspace-dir", Arity::kValue}, set_path<&CallOptions::workspace_dir>},
    {{"--writable-repo", Arity::kFlag}, set_flag<&CallOptions::repo_access, RepoAccess::kWritable>},
    {{"--writable-git", Arity::kFlag}, set_flag<&CallOptions::git_access, GitAccess::kWritable>},
    {{"--allow-speculation", Arity::kFlag}, set_flag<&CallOptions::speculation, Speculation::kAllowed>},
    {{"--stdin", Arity::kFlag}, set_flag<&CallOptions::stdin_choice, StdinChoice::kOurs>},
    {{"--raw-stdin", Arity::kFlag}, set_flag<&CallOptions::stdin_choice, StdinChoice::kOursItself>},
    {{"--audit", Arity::kValue}, set_audit},
    {{"--no-audit", Arity::kFlag}, set_no_audit},
    {{"--audit-sync", Arity::kValue}, set_sync},
    {{"--audit-may-fail", Arity::kFlag}, set_audit_may_fail},
    {{"--json", Arity::kFlag}, set_flag<&CallOptions::format, Format::kJson>},
    {{"--verbose", Arity::kFlag}, set_flag<&CallOptions::verbosity, Verbosity::kVerbose>},
});

}  // namespace

Result<std::optional<CallOptions>> parse_call_options(std::span<const std::string> args, Format& format) {
  OptionWalker walker(args, kOptions, format, WordsEnd::kAtTheTool);
  CallOptions call;
  while (true) {
    const Token token = TRY(walker.next());
    if (token.kind == Token::Kind::kHelp) return std::nullopt;
    if (token.kind != Token::Kind::kOption) break;
    TRY(kOptions[token.index].apply(call, token.value));
  }
  call.argv.assign(walker.rest().begin(), walker.rest().end());
  return call;
}

std::vector<std::string_view> call_option_names() {
  std::vector<std::string_view> names;
  for (const auto& option : kOptions) names.push_back(option.name);
  return names;
}

}  // namespace sallyport::cli
