// sallyport doctor: which jails work here, and whether they hold against the attacks we know.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "attack/cases.h"
#include "attack/runner.h"
#include "cli/attack_image.h"
#include "cli/call_options.h"
#include "cli/command_line.h"
#include "cli/console.h"
#include "cli/container_choice.h"
#include "cli/exit_code.h"
#include "cli/host_means.h"
#include "cli/jail_table.h"
#include "cli/option_table.h"
#include "cli/option_words.h"
#include "cli/stop_on_signal.h"
#include "cli/tool_table.h"
#include "cli/verb.h"
#include "cli/verdict.h"
#include "core/errors.h"
#include "core/text/did_you_mean.h"
#include "core/text/printable.h"
#include "os/file.h"
#include "os/scratch.h"
#include "sallyport/gate.h"

namespace sallyport::cli {
namespace {

namespace fs = std::filesystem;
using attack::Finding;
using attack::Got;

enum class DoctorAction { kProbe, kAttack };
struct DoctorCommand {
  DoctorAction action = DoctorAction::kProbe;
  JailKind jail = JailKind::kAuto;
  ContainerOptions container{};
  std::string only{};  // one attack by name; empty: all
  Format format = Format::kText;
};

constexpr int kExitBroken = 1;

// When only the program was installed or copied, unpack the attacks from it.
Result<attack::Surroundings> unpack_attacks(const Environment& environment, const fs::path& self,
                                            std::optional<ScratchDir>& unpacked) {
  unpacked = TRY(ScratchDir::create("/tmp"));
  const fs::path program = unpacked->path() / attack::kProgramName;
  TRY(write_file_atomically(program, attack_image(), 0755));
  return attack::Surroundings{.program = program,
                              .supervisor = self,
                              .home = environment.home.value_or(""),
                              .search_path = search_path(environment)};
}

// Installed as PREFIX/bin/sallyport and PREFIX/libexec/sallyport/sallyport-attack, or where CMAKE_INSTALL_LIBEXECDIR says; side by side in
// a build tree.
Result<attack::Surroundings> find_surroundings(const Environment& environment, std::optional<ScratchDir>& unpacked) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path directory = self.parent_path();
  for (const fs::path& place : {(directory / SALLYPORT_LIBEXEC_FROM_BIN / "sallyport").lexically_normal(), directory}) {
    const fs::path program = place / attack::kProgramName;
    if (!fs::is_regular_file(program, error)) continue;
    return attack::Surroundings{.program = program,
                                .supervisor = self,
                                .home = environment.home.value_or(""),
                                .search_path = search_path(environment)};
  }
  return unpack_attacks(environment, self, unpacked);
}

// `tools` is empty when the user asked about one jail only.
int print_readiness(const std::vector<JailAnswer>& jails, const std::optional<HostMeans>& means,
                    const std::vector<ToolRow>& tools, Format format) {
  const bool any = std::ranges::any_of(jails, [](const JailAnswer& answer) { return !answer.problem; });
  const int code = any && !lacks_mandatory(tools) ? kExitOk : kExitBroken;
  if (format == Format::kJson) {
    Json record = {{"schema", "sallyport.doctor/1"}, {"jails", jails_json(jails)}};
    if (means) record["host"] = host_means_json(*means);
    if (!tools.empty()) record["tools"] = tools_json(tools);
    return print_record(record, code);
  }
  std::string text = jails_text(jails);
  if (means) text += host_means_text(*means);
  if (!tools.empty()) text += tools_text(tools, ::isatty(STDOUT_FILENO) == 1);
  return print_text(text, code);
}

// Doctor does not wait half a minute for a jail that the user did not name.
Error why_not_tried(const attack::Surroundings& surroundings, JailKind jail) {
  if (const Status could = attack::could_start(surroundings, jail); !could) return in_options(could.error());
  return jail_unavailable(jail, "not tried, since a start takes half a minute",
                          fmt::format("'sallyport doctor --jail {}' tries it", jail.name()));
}

JailAnswer ask(const attack::Surroundings& surroundings, const JailOffer& offer, DoctorAction action) {
  const JailKind jail = offer.kind;
  if (offer.starts_slowly) return {.jail = jail, .problem = why_not_tried(surroundings, jail)};
  Result<std::vector<Established>> established = attack::probe(surroundings, jail);
  if (!established) return {.jail = jail, .problem = in_options(established.error())};
  if (action == DoctorAction::kAttack) return {.jail = jail};
  Result<std::vector<Established>> asked = attack::probe_what_is_asked_for(surroundings, jail);
  if (!asked) return {.jail = jail, .problem = in_options(asked.error())};
  return {.jail = jail, .established = *std::move(established), .when_asked = *std::move(asked)};
}

// An attack that was not tried behind the jail counts as broken, unless this host does not let it work without a jail either (a
// plain user has nothing to lose to it).
bool broken(const Finding& finding) {
  if (finding.jailed.got == Got::kNotTried) return finding.control.got != Got::kImpossible;
  return !finding.held();
}

std::string text_of(const std::vector<Finding>& findings, std::string_view jail) {
  std::size_t width = 6;
  for (const Finding& finding : findings) width = std::max(width, finding.attack->name.size());
  std::string text = fmt::format("{:<{}}  {:<16} {:<12} {}\n", "ATTACK", width, "WITHOUT JAIL",
                                 "WITH " + std::string(jail), "GUARANTEE");
  std::size_t proved = 0;
  std::vector<std::string_view> through;
  for (const Finding& finding : findings) {
    text += fmt::format("{:<{}}  {:<16} {:<12} {}\n", finding.attack->name, width, attack::name_of(finding.control.got),
                        attack::name_of(finding.jailed.got), sallyport::name_of(finding.attack->guarantee));
    for (const attack::Try* one : {&finding.control, &finding.jailed}) {
      if (!one->why.empty() && one->got != Got::kBlocked) text += fmt::format("  {}\n", printable(one->why));
    }
    if (broken(finding)) through.push_back(finding.attack->name);
    if (finding.held() && finding.control.got == Got::kThrough) ++proved;
  }
  if (!through.empty()) {
    return text + fmt::format("NOT SAFE: {} of {} attacks got through {}, or could not be tried behind it: {}.\n",
                              through.size(), findings.size(), jail, fmt::join(through, ", "));
  }
  return text + fmt::format(
                    "Safe: none of the {} attacks got through {}. {} of them do get through without it; the "
                    "other {} cannot be shown on this host.\n",
                    findings.size(), jail, proved, findings.size() - proved);
}

Json record_of(const std::vector<Finding>& findings, std::string_view jail) {
  Json attacks = Json::array();
  for (const Finding& finding : findings) {
    Json entry = {{"name", finding.attack->name},
                  {"guarantee", sallyport::name_of(finding.attack->guarantee)},
                  {"deed", finding.attack->deed},
                  {"control", attack::name_of(finding.control.got)},
                  {"jailed", attack::name_of(finding.jailed.got)},
                  {"held", finding.held()}};
    if (!finding.control.why.empty()) entry["control_reason"] = json_text(finding.control.why);
    if (!finding.jailed.why.empty()) entry["jailed_reason"] = json_text(finding.jailed.why);
    attacks.push_back(std::move(entry));
  }
  return {{"schema", "sallyport.attacks/1"}, {"jail", jail}, {"attacks", std::move(attacks)}};
}

int attack_jail(JailKind jail, const attack::Surroundings& surroundings, const DoctorCommand& command) {
  // On a signal, finish the attack under way and remove its files.
  const Result<StopOnSignal> signals = StopOnSignal::start();
  if (!signals) return report(signals.error(), command.format);
  // Removes what a killed doctor left in /tmp; does not touch a directory of a living one.
  static_cast<void>(sweep_stale_scratch("/tmp"));
  std::vector<Finding> findings;
  for (const attack::Case& one : attack::kCases) {
    if (!command.only.empty() && command.only != one.name) continue;
    findings.push_back(attack::perform(one, surroundings, jail));
    if (const int number = signals->received(); number != 0) {
      say(fmt::format("cancelled by {} after {} attacks: this says nothing about {}", signal_name(number),
                      findings.size(), jail.name()));
      return exit_code_of_signal(number);
    }
  }
  const int code = std::ranges::any_of(findings, broken) ? kExitBroken : kExitOk;
  if (command.format == Format::kJson) return print_record(record_of(findings, jail.name()), code);
  return print_text(text_of(findings, jail.name()), code);
}

std::optional<HostMeans> means_of_first_working(const std::vector<JailAnswer>& answers) {
  const auto works = std::ranges::find_if(answers, [](const JailAnswer& answer) { return !answer.problem; });
  // Jails that are used only by name have their own means, which do not describe the host's.
  const std::vector<JailKind> usual = GateConfig().auto_jails;
  if (works == answers.end() || std::ranges::find(usual, works->jail) == usual.end()) return std::nullopt;
  return find_host_means(*works);
}

Status check_only(const std::string& name) {
  if (name.empty() || attack::find_case(name) != nullptr) return {};
  std::vector<std::string_view> names;
  for (const attack::Case& one : attack::kCases) names.push_back(one.name);
  std::string hint = did_you_mean(name, names);
  if (hint.empty()) hint = "docs/attacks.md lists them";
  return fail(invalid_request("attack", fmt::format("there is no attack '{}'", name), hint));
}

// A jail that the user names is tried even if its start is slow. Otherwise all that the gate has; with --attack those that
// `auto` tries.
Result<std::vector<JailOffer>> jails_to_ask(const DoctorCommand& command, const ContainerOptions& container) {
  if (command.jail != JailKind::kAuto) return std::vector<JailOffer>{{.kind = command.jail}};
  GateConfig config;
  config.container = container;
  const std::unique_ptr<Gate> gate = TRY(Gate::open(std::move(config)));
  std::vector<JailOffer> jails = gate->jails();
  std::erase_if(jails, [&](const JailOffer& jail) {
    if (command.action == DoctorAction::kProbe) return jail.confinement == Confinement::kNone;
    return std::ranges::find(gate->config().auto_jails, jail.kind) == gate->config().auto_jails.end();
  });
  return jails;
}

int examine(const DoctorCommand& command, const Environment& environment) {
  if (const Status known = check_only(command.only); !known) return report(known.error(), command.format);
  std::optional<ScratchDir> unpacked;  // outlives the attacks
  Result<attack::Surroundings> surroundings = find_surroundings(environment, unpacked);
  if (!surroundings) return report(surroundings.error(), command.format);
  surroundings->container = with_environment(command.container, environment);
  surroundings->container.tools = ContainerTools::kOfHost;  // no image has the attacks
  if (command.action == DoctorAction::kAttack && command.only.empty() && command.format == Format::kText) {
    say(fmt::format("making {} attacks, twice each; this takes a minute", attack::kCases.size()));
  }
  const bool attacking = command.action == DoctorAction::kAttack;
  // Without a jail there is nothing to probe first.
  if (command.jail == JailKind::kNone && attacking) return attack_jail(command.jail, *surroundings, command);
  const Result<std::vector<JailOffer>> jails = jails_to_ask(command, surroundings->container);
  if (!jails) return report(in_options(jails.error()), command.format);
  std::vector<JailAnswer> answers;
  for (const JailOffer& jail : *jails) {
    answers.push_back(ask(*surroundings, jail, command.action));
    const std::optional<Error>& problem = answers.back().problem;
    if (problem && problem->as<InvalidRequest>() != nullptr) return report(*problem, command.format);  // no such jail
    if (attacking && !problem) return attack_jail(jail.kind, *surroundings, command);
  }
  if (!attacking) {
    const bool everything = command.jail == JailKind::kAuto;
    return print_readiness(answers, means_of_first_working(answers),
                           everything ? find_tools(environment) : std::vector<ToolRow>(), command.format);
  }
  return report(*answers.back().problem, command.format);
}

Status set_attack(DoctorCommand& command, std::string_view /*value*/) {
  command.action = DoctorAction::kAttack;
  return {};
}

Status set_doctor_jail(DoctorCommand& command, std::string_view value) {
  command.jail = JailKind(value);
  return {};
}

Status set_only(DoctorCommand& command, std::string_view value) {
  command.only = value;
  return {};
}

Status set_doctor_json(DoctorCommand& command, std::string_view /*value*/) {
  command.format = Format::kJson;
  return {};
}

constexpr auto kDoctorOptions =
    std::to_array<Option<DoctorCommand>>({{{"--attack", Arity::kFlag}, set_attack},
                                          {{"--jail", Arity::kValue}, set_doctor_jail},
                                          {{"--image", Arity::kValue}, set_image<DoctorCommand>},
                                          {{"--engine", Arity::kValue}, set_engine<DoctorCommand>},
                                          {{"--engine-arg", Arity::kRepeatable}, add_engine_arg<DoctorCommand>},
                                          {{"--only", Arity::kValue}, set_only},
                                          {{"--json", Arity::kFlag}, set_doctor_json}});

Result<std::optional<DoctorCommand>> parse_doctor_words(Args args, Format& format) {
  OptionWalker walker(args, kDoctorOptions, format);
  DoctorCommand command;
  while (true) {
    const Token token = TRY(walker.next());
    if (token.kind == Token::Kind::kEnd) return command;
    if (token.kind == Token::Kind::kHelp) return std::nullopt;
    if (token.kind == Token::Kind::kOperand) return fail(superfluous_word(token.value));
    if (token.kind == Token::Kind::kOption) TRY(kDoctorOptions[token.index].apply(command, token.value));
  }
}

Result<Action> parse_doctor(Args args, Format& format) {
  std::optional<DoctorCommand> command = TRY(parse_doctor_words(args, format));
  if (!command) return Action();
  return [command = *std::move(command)](const Environment& environment) { return examine(command, environment); };
}

constexpr std::string_view kDoctorPage = R"(usage: sallyport doctor [--attack [--only NAME]] [--jail KIND] [--json]
Show which jails work on this machine, by using each one once, what each gives
and by which means, and which tools of the closed set are here, in which
version, and how to install the others.

  --attack      make every attack we know, with and without the jail
  --only NAME   just this one of them
  --jail KIND   only this one; also none, and microvm-tcg (half a minute)
                [every jail there is; an attack: the first that works]
  --image NAME  of --jail container; also --engine, --engine-arg as in run
  --json        one record: {"schema":"sallyport.doctor/1", ...}, with
                --attack {"schema":"sallyport.attacks/1","attacks":[...]}

An attack counts only when it works without a jail; where it does not, the
table says so. It runs a copy of itself, in directories it makes and removes,
and harms nothing. With --jail none you see what is left when nothing guards.

exit codes: 0 held, 1 an attack got through, no jail works, or a mandatory tool
is missing, 125 wrong usage

examples:
  sallyport doctor
  sallyport doctor --attack --jail bwrap
)";

}  // namespace

extern constinit const Verb kDoctorVerb{.name = "doctor",
                                        .summary = "which jails and tools work here; --attack tries to break out",
                                        .page = kDoctorPage,
                                        .parse = parse_doctor};

}  // namespace sallyport::cli
