// sallyport explain: the plan of a call, with no tool started and nothing written. What only the operator's npm or a container
// engine knows, these are asked.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "cli/call.h"
#include "cli/call_options.h"
#include "cli/console.h"
#include "cli/console_events.h"
#include "cli/exit_code.h"
#include "cli/verb.h"
#include "core/errors.h"
#include "core/json/json.h"
#include "core/text/printable.h"
#include "core/text/units.h"
#include "sallyport/gate.h"

namespace sallyport::cli {
namespace {

// "key         value", the key only on the first of several lines.
class Table {
 public:
  void row(std::string_view key, std::string_view value) {
    text_ += fmt::format("{:<12} {}\n", key == last_ ? "" : key, printable(value));
    last_ = key;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::string last_;
};

// For reading: quotes a word only if it would otherwise split or vanish.
std::string for_reading(std::string_view word) {
  const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$`*?;&|<>()") == std::string_view::npos;
  return plain ? std::string(word) : fmt::format("'{}'", word);
}

std::string limits_text(const Limits& limits) {
  std::string text = fmt::format("wall {}, output {}", format_duration(limits.wall), format_bytes(limits.output));
  if (limits.memory) text += fmt::format(", memory {}", format_bytes(*limits.memory));
  if (limits.pids) text += fmt::format(", pids {}", *limits.pids);
  if (limits.cpu) text += fmt::format(", cpu {}", format_duration(*limits.cpu));
  if (limits.disk) text += fmt::format(", disk {}", format_bytes(*limits.disk));
  return text;
}

void add_binary(Table& table, std::string_view key, const ExecutableIdentity& binary) {
  table.row(key, std::visit(overloaded{[](const BinaryIdentity& file) {
                                         return fmt::format("{} ({}, sha256 {})", file.path,
                                                            format_bytes(ByteCount{file.size}), file.sha256);
                                       },
                                       [](const ImageFile& file) {
                                         return fmt::format("{} ({} {})", file.path, file.image, file.digest);
                                       }},
                            binary));
}

void add_plan(Table& table, const Plan& plan) {
  std::string command;
  for (const std::string& word : plan.argv) {
    if (!command.empty()) command += ' ';
    command += for_reading(word);
  }
  if (plan.lists_git_configuration) {
    table.row("first", "git config --list -z, in the same jail; the command below then outranks each dangerous key");
  }
  table.row("command", command);
  for (const EnvVar& var : plan.env) table.row("environment", fmt::format("{}={}", var.name, var.value));
  table.row("repo", fmt::format("{} ({})", plan.repo.native(),
                                plan.repo_access == RepoAccess::kWritable ? "writable" : "read-only"));
  for (const PrivateLayer& layer : plan.layers) {
    table.row("workspace", fmt::format("{} is written in {} ({})", layer.over.native(), layer.state.native(),
                                       layer.is_overlay() ? "overlay" : "a private copy"));
  }
  table.row("cwd", plan.cwd.native());
  for (const auto& path : plan.extra_read_only) table.row("read-only", path.native());
  for (const auto& path : plan.extra_read_write) table.row("writable", path.native());
  for (const HostRule& rule : plan.allowed_hosts) table.row("may reach", host_rule_text(rule));
  if (plan.allowed_hosts.empty()) table.row("may reach", "no host");
  if (plan.via_proxy) table.row("via proxy", proxy_text(*plan.via_proxy));
  if (plan.registry_credentials) {
    table.row("credentials",
              fmt::format("yours, added outside the jail to requests to {}", plan.registry_credentials->registry()));
  }
  if (plan.extra_ca) table.row("trusts also", plan.extra_ca->native());
  table.row("limits", limits_text(plan.limits));
  if (plan.speculation == Speculation::kAllowed) table.row("speculation", "allowed");
  if (plan.allow_package_scripts) table.row("scripts", "of the project and the packages named, without a network");
  if (plan.probe) table.row("probe", plan.probe->str());
}

std::string explanation_text(const Explanation& explanation, Verbosity verbosity) {
  const Plan& plan = explanation.plan;
  Table table;
  table.row("tool", fmt::format("{} ({}: {})", plan.tool.name, plan.tool.decision_record, plan.tool.reason));
  add_binary(table, "binary", explanation.binary);
  for (const BinaryIdentity& binary : explanation.interpreters) add_binary(table, "interpreter", binary);
  add_plan(table, plan);
  table.row("jail", explanation.jail.name());
  if (plan.run_as && explanation.confinement != Confinement::kNone) {
    table.row("runs as", fmt::format("user {}, group {}: the repo's owner", plan.run_as->uid, plan.run_as->gid));
  }
  for (const Established& entry : explanation.would_establish) {
    table.row("guarantees", fmt::format("{} ({})", name_of(entry.guarantee), name_of(entry.mechanism)));
  }
  for (const Guarantee guarantee : plan.required) table.row("required", name_of(guarantee));
  // A hundred mounts mean nothing to most readers.
  const bool all_steps = verbosity == Verbosity::kVerbose;
  if (!all_steps && !explanation.rendered.empty()) {
    table.row("steps", fmt::format("{} to build the jail; --verbose lists them", explanation.rendered.size()));
  }
  for (const std::string& step : explanation.rendered) {
    if (all_steps) table.row("steps", step);
  }
  table.row("plan digest", explanation.plan_digest);
  return table.text();
}

int explain_tool(const CallOptions& options, const Environment& environment) {
  ConsoleEvents events(options.format, options.verbosity);
  Call call = make_call(options, environment, events);
  const Result<std::unique_ptr<Gate>> gate = Gate::open(std::move(call.config));
  if (!gate) return report(gate.error(), options.format, events);
  const Result<Explanation> explanation = (*gate)->explain(call.spec, options.jail);
  if (!explanation) return report(explanation.error(), options.format, events);
  if (options.format == Format::kText) return print_text(explanation_text(*explanation, options.verbosity), kExitOk);
  return print_record(events.with_events(explain_record(*explanation)), kExitOk);
}

Result<Action> parse_explain(Args args, Format& format) {
  std::optional<CallOptions> call = TRY(parse_call_options(args, format));
  if (!call) return Action();
  return [call = *std::move(call)](const Environment& environment) { return explain_tool(call, environment); };
}

constexpr std::string_view kExplainPage = R"(usage: sallyport explain [OPTIONS] [--] TOOL [ARGS]
Print what run would do with the same options: the binary and its hash, the
full command with its hardening, environment, limits, jail and guarantees.
No tool is started and nothing is written. With --allow-registry and
--registry-auth your npm may be asked, with --jail container the engine.

Takes every option of run (sallyport help run); it refuses what run refuses,
with the same exit codes: 125 refused, 126 not runnable, 127 tool missing.

examples:
  sallyport explain -- git status
  sallyport explain --json --jail bwrap --memory 512M -- npm install
)";

}  // namespace

extern constinit const Verb kExplainVerb{.name = "explain",
                                         .summary = "print what run would do; starts no tool, writes nothing",
                                         .page = kExplainPage,
                                         .parse = parse_explain};

}  // namespace sallyport::cli
