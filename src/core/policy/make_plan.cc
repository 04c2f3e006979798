#include "core/policy/make_plan.h"
#include "core/egress/egress_rules.h"
#include "core/egress/registry_endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/errors.h"
#include "core/policy/env_filter.h"
#include "core/policy/hardening.h"
#include "core/policy/hardening/npm_scripts.h"
#include "core/policy/known_guarantee.h"
#include "core/text/units.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

Status check_arguments(std::span<const std::string> argv) {
  for (std::size_t i = 0; i < argv.size(); ++i) {
    if (argv[i].find('\0') != std::string::npos) {
      return fail(invalid_request("argv", fmt::format("argument {} holds a NUL byte", i),
                                  "the kernel would cut the argument there; remove the byte"));
    }
    if (argv[i].size() >= kLongestArgument) {
      return fail(invalid_request(
          "argv",
          fmt::format("argument {} is {} long, the kernel takes less than {}", i,
                      format_bytes(ByteCount{argv[i].size()}), format_bytes(ByteCount{kLongestArgument})),
          "pass large input in a file or on stdin"));
    }
  }
  return {};
}

// What execve(2) counts: every string with its NUL, and one pointer each.
Status check_command_size(std::span<const std::string> argv, std::span<const EnvVar> env) {
  std::size_t size = 0;
  for (const std::string& argument : argv) size += argument.size() + 1 + sizeof(char*);
  for (const EnvVar& var : env) {
    const std::size_t length = var.name.size() + 1 + var.value.size() + 1;
    if (length > kLongestArgument) {
      return fail(invalid_request(
          "env_extras", fmt::format("{} is longer than {}", var.name, format_bytes(ByteCount{kLongestArgument})),
          "pass large input in a file or on stdin"));
    }
    size += length + sizeof(char*);
  }
  if (size <= kLargestCommand) return {};
  return fail(invalid_request("argv",
                              fmt::format("arguments and environment take {} together, more than {}",
                                          format_bytes(ByteCount{size}), format_bytes(ByteCount{kLargestCommand})),
                              "pass long lists in a file or on stdin"));
}

Status check_time(std::string_view field, milliseconds value) {
  if (value <= milliseconds::zero()) {
    return fail(invalid_request(field, fmt::format("{} ms is not a positive time", value.count()),
                                "give the tool time to work, e.g. 60s"));
  }
  if (value > kLongestTimeout) {
    return fail(invalid_request(field,
                                fmt::format("{} is longer than a run may take",
                                            format_duration(std::min(value, milliseconds(std::chrono::hours(8760))))),
                                fmt::format("at most {}h", kLongestTimeout.count())));
  }
  return {};
}

Status check_positive(std::string_view field, std::optional<std::uint64_t> value) {
  if (!value || *value > 0) return {};
  return fail(invalid_request(field, "must be greater than 0", "leave it out for no limit"));
}

// A value larger than any machine is a mistake in the caller's arithmetic, and sums with it could wrap around.
Status check_size(std::string_view field, std::optional<ByteCount> value) {
  constexpr ByteCount kLargest = mebibytes(std::uint64_t{1} << 40U);  // 1 EiB
  TRY(check_positive(field, value ? std::optional(count(*value)) : std::nullopt));
  if (!value || *value <= kLargest) return {};
  return fail(invalid_request(field, fmt::format("{} is more than any machine has", format_bytes(*value)),
                              "leave it out for no limit, or give one that can be reached"));
}

// Less does not even hold the jail's init and the C library of a small tool.
constexpr ByteCount kLeastMemory = mebibytes(4);

Status check_grace(milliseconds grace, milliseconds wall) {
  if (grace >= milliseconds::zero() && grace <= std::max(wall / 4, StopLadder{}.grace)) return {};
  return fail(invalid_request("grace", fmt::format("{} is more than a quarter of the timeout", format_duration(grace)),
                              "the run must be over by 1.5 times its timeout; raise the timeout, or give less grace"));
}

Status check_least_memory(std::optional<ByteCount> memory) {
  if (!memory || *memory >= kLeastMemory) return {};
  return fail(invalid_request("memory", fmt::format("{} is too little for any tool to start", format_bytes(*memory)),
                              fmt::format("at least {}; git and rg need about 32M, node 256M. Units: 512K, 64M, 0.5G",
                                          format_bytes(kLeastMemory))));
}

Status check_pids(std::optional<std::uint32_t> pids) {
  constexpr std::uint32_t kMost = 1U << 22U;  // PID_MAX_LIMIT
  TRY(check_positive("pids", pids));
  if (!pids || *pids <= kMost) return {};
  return fail(invalid_request("pids", fmt::format("{} is more than a kernel has", *pids),
                              fmt::format("at most {}, or leave it out for no limit", kMost)));
}

Status check_limits(const Limits& limits) {
  TRY(check_time("timeout", limits.wall));
  if (limits.output == ByteCount{0} || limits.output > kLargestMaxOutput) {
    return fail(invalid_request(
        "max_output",
        fmt::format("{} is not between 1 byte and {}", format_bytes(limits.output), format_bytes(kLargestMaxOutput)),
        "the default is 64M"));
  }
  if (limits.cpu) TRY(check_time("cpu", *limits.cpu));
  TRY(check_size("memory", limits.memory));
  TRY(check_least_memory(limits.memory));
  TRY(check_pids(limits.pids));
  return check_size("disk", limits.disk);
}

Result<std::vector<HostRule>> allowed_hosts(const ToolEntry& tool, const JailedSubprocessSpec& spec) {
  std::vector<HostRule> rules = tool.allowed_hosts;
  // Of two rules for a name the first counts, and a registry's are at the end of the others (RegistryAllowlist::apply_to).
  for (const std::string& text : spec.allowed_egress) rules.push_back(TRY(parse_host_rule(text)));
  rules.insert(rules.end(), spec.allowed_hosts.begin(), spec.allowed_hosts.end());
  return rules;
}

Status check_required(std::span<const Guarantee> required) {
  if (std::ranges::all_of(required, is_guarantee)) return {};
  return fail(invalid_request("required", "one of them is no guarantee", "take them from sallyport/guarantee.h"));
}

Status check_paths(const CanonicalPaths& paths) {
  if (!paths.repo.is_absolute()) return fail(invalid_request("repo", "not resolved to an absolute path"));
  if (!paths.cwd.is_absolute()) return fail(invalid_request("cwd", "not resolved to an absolute path"));
  if (!is_inside(paths.cwd, paths.repo)) {
    return fail(invalid_request("cwd",
                                fmt::format("{} lies outside the repo {}", paths.cwd.string(), paths.repo.string()),
                                "choose a directory inside the repo, or another repo"));
  }
  return {};
}

// git looks for a repo from cwd upwards; it must not find another one above the analysed repo. A colon separates the
// entries and cannot be escaped, so a path with a colon gets no such variable.
void confine_git_discovery(std::vector<EnvVar>& env, const fs::path& repo) {
  const bool starts_git = std::ranges::find(env, "GIT_CONFIG_GLOBAL", &EnvVar::name) != env.end();
  const std::string above = repo.parent_path().native();
  if (!starts_git || above.find(':') != std::string::npos) return;
  const std::array ceiling = {EnvVar{.name = "GIT_CEILING_DIRECTORIES", .value = above}};
  overlay(env, ceiling);
}

// OpenSSL and what is built on it (python, ruby, uv), node, git, curl, python's requests and pip, cargo, the AWS tools, deno.
// No variable adds to Java's own store.
constexpr auto kCaVariables = std::to_array<std::string_view>({"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO",
                                                               "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "PIP_CERT",
                                                               "CARGO_HTTP_CAINFO", "AWS_CA_BUNDLE", "DENO_CERT"});

void add_ca_variables(std::vector<EnvVar>& env) {
  for (const std::string_view name : kCaVariables) {
    const bool given = std::ranges::find(env, name, &EnvVar::name) != env.end();
    if (!given) env.push_back({.name = std::string(name), .value = std::string(kJailCaBundle)});
  }
  std::ranges::sort(env, {}, &EnvVar::name);
}

// Scripts that may run only without a network need a jail that really cuts the network.
std::vector<Guarantee> required_by(const JailedSubprocessSpec& spec) {
  std::vector<Guarantee> guarantees = spec.required;
  if (spec.allow_package_scripts) guarantees.push_back(Guarantee::kNetIsolated);
  std::ranges::sort(guarantees);
  const auto repeated = std::ranges::unique(guarantees);
  guarantees.erase(repeated.begin(), repeated.end());
  return guarantees;
}

Result<ToolEntry> admitted_tool(const Allowlist& allowlist, std::span<const std::string> argv) {
  return allowlist.admit(argv.empty() ? std::string_view() : std::string_view(argv.front()));
}

// An unset PATH makes libc look in the system's own directories; an empty one would mean the working directory.
void set_path(std::vector<EnvVar>& env, const std::string& trusted) {
  std::erase_if(env, [](const EnvVar& var) { return var.name == "PATH"; });
  if (trusted.empty()) return;
  const std::array path = {EnvVar{.name = "PATH", .value = trusted}};
  overlay(env, path);
}

// Refuse credentials for a registry that no rule allows: otherwise the mistake would show only when the tool fails.
Status check_credentials(const std::optional<RegistryCredentials>& credentials, const std::vector<HostRule>& hosts) {
  if (!credentials) return {};
  const RegistryEndpoint endpoint = registry_endpoint(*credentials);
  if (EgressRules(hosts).find(endpoint.name, endpoint.port)) return {};
  return fail(invalid_request("registry_auth", fmt::format("no rule allows {}", endpoint.url()),
                              fmt::format("`allowed_hosts` {}", endpoint.name)));
}

Status check_hosts_needed(const AdmittedCall& call) {
  if (call.command.needs_host.empty() || !call.hosts.empty()) return {};
  return fail(invalid_request(
      "argv", fmt::format("{} would fetch '{}', and no host is allowed", call.tool.name, call.command.needs_host),
      "name a local file, or allow the host: `allowed_hosts` HOST"));
}

}  // namespace

Result<AdmittedCall> admit(const Allowlist& allowlist, const JailedSubprocessSpec& spec,
                           std::span<const EnvVar> base_env) {
  std::optional<ProbeId> probe;
  if (spec.probe) probe = TRY(ProbeId::parse(*spec.probe));
  AdmittedCall call{.probe = std::move(probe), .tool = TRY(admitted_tool(allowlist, spec.argv))};
  TRY(check_arguments(spec.argv));
  TRY(check_required(spec.required));
  TRY(check_limits(spec.limits));
  if (spec.via_proxy) call.via_proxy = TRY(UpstreamProxy::of(*spec.via_proxy));
  TRY(check_positive("open_files", spec.open_files));
  TRY(check_grace(spec.grace, spec.limits.wall));
  call.env = TRY(child_env(base_env, spec.env_extras));
  TRY(check_command_size(spec.argv, call.env));
  call.hosts = TRY(allowed_hosts(call.tool, spec));
  TRY(check_credentials(spec.registry_credentials, call.hosts));
  call.git_first = git_question(call.tool, spec.argv);
  TRY(harden_for({}, allowlist, spec, call));
  return call;
}

Status harden_for(const GitConfiguration& git, const Allowlist& allowlist, const JailedSubprocessSpec& spec,
                  AdmittedCall& call) {
  GitConfiguration known = git;
  known.is_shut = spec.repo_access == RepoAccess::kWritable && spec.git_access == GitAccess::kProtected;
  call.command = TRY(harden(allowlist, call.tool, spec.argv, known));
  if (spec.allow_package_scripts) TRY(hardening::let_scripts_run(call.tool, spec.argv, call.hosts, call.command));
  TRY(check_command_size(call.command.argv, call.command.env));
  return check_hosts_needed(call);
}

Result<Plan> make_plan(const AdmittedCall& call, const JailedSubprocessSpec& spec, const CanonicalPaths& paths,
                       const std::string& trusted_path) {
  TRY(check_paths(paths));
  HardenedCommand command = call.command;
  std::vector<EnvVar> env = call.env;
  set_path(env, trusted_path);
  overlay(env, command.env);
  if (paths.extra_ca) add_ca_variables(env);
  confine_git_discovery(env, paths.repo);
  TRY(check_command_size(command.argv, env));
  return Plan{.tool = call.tool,
              .argv = std::move(command.argv),
              .env = std::move(env),
              .repo = paths.repo,
              .cwd = paths.cwd,
              .repo_access = spec.repo_access,
              .git_access = spec.git_access,
              .run_as = paths.owner,
              .speculation = spec.speculation,
              .extra_read_only = paths.extra_read_only,
              .extra_read_write = paths.extra_read_write,
              .hidden = paths.hidden,
              .no_exec = paths.no_exec,
              .allowed_hosts = call.hosts,
              .via_proxy = call.via_proxy,
              .registry_credentials = spec.registry_credentials,
              .strict_network = spec.strict_network,
              .extra_ca = paths.extra_ca,
              .limits = spec.limits,
              .ladder = {.grace = spec.grace},
              .open_files = spec.open_files,
              .required = required_by(spec),
              .probe = call.probe,
              .lists_git_configuration = call.git_first.has_value(),
              .files = std::move(command.files),
              .may_trace = may_trace(call.tool),
              .needs_jail = std::move(command.needs_jail),
              .allow_unjailed = spec.allow_unjailed.has_value(),
              .allow_package_scripts = spec.allow_package_scripts.has_value()};
}

}  // namespace sallyport
