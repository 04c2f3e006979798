#include "attack/runner.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <stop_token>
#include <thread>
#include <utility>

#include "attack/control.h"
#include "attack/evidence.h"
#include "core/errors.h"
#include "os/file.h"
#include "sallyport/gate.h"
#include "sallyport/workspace.h"

namespace sallyport::attack {
namespace {

using spawn::CarelessProcess;
using std::chrono::milliseconds;
using namespace std::chrono_literals;

// A closed set of one tool. Attacks on the set itself get another set.
constexpr std::string_view kPolicy = R"(schema = "sallyport.policy/1"
[[tool]]
name = "sallyport-attack"
decision_record = "docs/attacks.md"
reason = "attacks the jail it runs in"
)";
constexpr std::string_view kWrongPin =
    "sha256 = \"0000000000000000000000000000000000000000000000000000000000000000\"\n";

Result<std::unique_ptr<Gate>> open_gate(const Case& attack, const World& world, const Surroundings& surroundings) {
  std::string policy(kPolicy);
  if (has(attack.props, Prop::kPinnedTool)) policy += kWrongPin;
  GateConfig config{.repo = world.repo(), .search_path = {world.tools()}, .base_env = world.environment()};
  config.container = surroundings.container;
  // What a careless PATH finds first.
  if (!world.impostor().empty()) config.search_path.insert(config.search_path.begin(), world.impostor().parent_path());
  config.search_path.insert(config.search_path.end(), surroundings.search_path.begin(), surroundings.search_path.end());
  if (!has(attack.props, Prop::kDefaultSet)) config.allowlist = TRY(Allowlist::from_policy(policy, "attack policy"));
  return Gate::open(std::move(config));
}

Limits limits_for(const Case& attack) {
  Limits limits{.wall = attack.effect == Effect::kSurvives ? milliseconds(1s) : milliseconds(30s)};
  if (attack.guarantee == Guarantee::kLimitMemory) limits.memory = mebibytes(64);
  if (attack.guarantee == Guarantee::kLimitPids) limits.pids = 64;
  if (attack.guarantee == Guarantee::kLimitCpu) limits.cpu = 1s;
  if (attack.guarantee == Guarantee::kLimitDisk) limits.disk = mebibytes(8);
  if (attack.guarantee == Guarantee::kLimitOutput) limits.output = ByteCount{kOutputCap};
  return limits;
}

Result<JailedSubprocessSpec> spec_for(const Case& attack, const World& world, std::string_view deed, JailKind jail) {
  JailedSubprocessSpec spec{.argv = {std::string(kProgramName), std::string(deed)},
                            .repo = world.repo(),
                            .cwd = world.repo(),
                            .limits = limits_for(attack)};
  if (attack.name == "path_as_tool") spec.argv[0] = world.impostor();
  for (std::string& word : world.arguments()) spec.argv.push_back(std::move(word));
  const bool open_corner = has(attack.props, Prop::kOpenCorner);
  const bool closed_corner = has(attack.props, Prop::kClosedCorner);
  if (has(attack.props, Prop::kWritableRepo) || (closed_corner && !open_corner)) {
    spec.repo_access = RepoAccess::kWritable;
  }
  // Both together: the file is protected inside a directory that is writable inside a repo that is not.
  if (open_corner) spec.extra_read_write = {world.repo() / (closed_corner ? "shut" : "open")};
  if (closed_corner) spec.extra_read_only = {world.repo() / "shut/protected"};
  if (has(attack.props, Prop::kLinkedCorner)) {
    spec.repo_access = RepoAccess::kWritable;
    const char* const named = attack.name == "ro_symlink_replaced" ? "link"
                              : attack.name == "ro_hard_link"      ? "shut/protected"
                                                                   : "shut";
    spec.extra_read_only = {world.repo() / named};
  }
  if (has(attack.props, Prop::kPreload)) spec.env_extras = {{"LD_PRELOAD", "/nonexistent.so"}};
  if (has(attack.props, Prop::kTerminal)) spec.stdin_source = RawStdinFd{.fd = world.given_stdin()};
  if (has(attack.props, Prop::kStdinFile)) spec.stdin_source = StdinFd{.fd = world.given_stdin()};
  // Without a jail no rule applies: every host is reachable.
  if (jail != JailKind::kNone) spec.allowed_hosts = TRY(world.allowed_hosts(attack));
  // The gate must detect a forged verdict with or without the limit's strong form. Without a jail we require nothing,
  // to see what the gate alone stops.
  if (attack.effect != Effect::kForgesVerdict && jail != JailKind::kNone) spec.required = {attack.guarantee};
  return spec;
}

// The plain end that really happens in an attack that forges another.
bool is_honest(const Case& attack, const Outcome& outcome) {
  const auto* completed = std::get_if<Completed>(&outcome);
  if (completed == nullptr) return false;
  const auto* code = std::get_if<ExitCode>(&completed->fate);
  const auto* by_signal = std::get_if<Signal>(&completed->fate);
  if (attack.name == "forge_sigkill") return by_signal != nullptr && by_signal->number == SIGKILL;
  const int expected = attack.name == "forge_exit_137" ? 137 : attack.name == "forge_exit_124" ? 124 : 0;
  return code != nullptr && code->value == expected;
}

Evidence evidence_of(const Case& attack, const JailedSubprocessResult& result) {
  return {.output = result.stdout_stream.bytes,
          .most_kept = std::max(result.stdout_stream.bytes.size(), result.stderr_stream.bytes.size()),
          .misjudged = !is_honest(attack, result.outcome)};
}

Result<Evidence> with_partner(Gate& gate, const Case& attack, const World& world, JailKind jail) {
  JailedSubprocessSpec side = TRY(spec_for(attack, world, "partner", jail));
  side.argv.push_back("secret=" + world.canary());
  const JailedSubprocessSpec spec = TRY(spec_for(attack, world, attack.name, jail));
  std::jthread partner([&](std::stop_token stop) { static_cast<void>(gate.run(side, jail, std::move(stop))); });
  const Result<JailedSubprocessResult> result = gate.run(spec, jail, {});
  partner.request_stop();
  partner.join();
  if (jail == JailKind::kNone) clean_up_after_partner(world);
  if (!result) return fail(result.error());
  return evidence_of(attack, *result);
}

Result<Evidence> with_accomplice(Gate& gate, const Case& attack, const World& world, JailKind jail) {
  CarelessProcess accomplice = TRY(start_accomplice(world));
  JailedSubprocessSpec spec = TRY(spec_for(attack, world, attack.name, jail));
  spec.argv.push_back("pid=" + std::to_string(accomplice.pid()));
  Evidence evidence = evidence_of(attack, TRY(gate.run(spec, jail, {})));
  evidence.accomplice_dead = accomplice.wait(100ms).has_value();
  return evidence;
}

std::vector<std::string> container_words(const ContainerOptions& container) {
  if (container.image.empty()) return {};
  std::vector<std::string> words = {"--image", container.image, "--host-tool", "--engine",
                                    container.engine == ContainerEngine::kPodman ? "podman" : "docker"};
  for (const std::string& word : container.engine_arguments) words.push_back("--engine-arg=" + word);
  return words;
}

// sallyport itself owns this run, and is killed in the middle of it.
Result<Evidence> with_dying_owner(const Case& attack, const World& world, const Surroundings& surroundings,
                                  JailKind jail) {
  const std::filesystem::path policy = world.outside("policy.toml");
  TRY(write_file_atomically(policy, kPolicy));
  spawn::CarelessStart start{.program = surroundings.supervisor, .cwd = world.repo()};
  start.argv = {"sallyport",  "run",       "--jail", std::string(jail.name()), "--policy", policy, "--repo",
                world.repo(), "--timeout", "30s"};
  for (std::string& word : container_words(surroundings.container)) start.argv.push_back(std::move(word));
  for (const std::string_view word : {std::string_view("--"), kProgramName, attack.name}) start.argv.emplace_back(word);
  start.argv.push_back("marker=" + world.marker());
  start.env = {"PATH=" + world.tools().native() + ":/usr/bin:/bin"};
  for (const EnvVar& var : surroundings.container.environment) start.env.push_back(var.name + "=" + var.value);
  start.stdout_to = world.outside("stdout");
  start.stderr_to = world.outside("stderr");
  CarelessProcess owner = TRY(CarelessProcess::start(start));
  const std::string tried = "ATTACK:" + std::string(attack.name);
  // Wait for its output: behind another kernel it is no process of this one.
  while (read_whole_file(start.stdout_to, mebibytes(1)).value_or("").find(tried) == std::string::npos) {
    if (owner.wait(5ms)) {
      const std::string said = read_whole_file(start.stderr_to, mebibytes(1)).value_or("");
      return fail(invalid_request("supervisor", said));
    }
  }
  const std::vector<ProcessEntry> below = descendants_of(owner.pid());
  owner.send_signal(SIGKILL);
  static_cast<void>(owner.wait(10s));
  return Evidence{.output = tried, .outlived = any_lives_on_and_is_killed(below)};
}

bool lists(const Receipt& receipt, Mechanism mechanism) {
  return std::ranges::find(receipt.established, mechanism, &Established::mechanism) != receipt.established.end();
}

Result<Evidence> attack_jail(const Case& attack, const World& world, const Surroundings& surroundings, JailKind jail) {
  if (has(attack.props, Prop::kOwnerDies)) return with_dying_owner(attack, world, surroundings, jail);
  const std::unique_ptr<Gate> gate = TRY(open_gate(attack, world, surroundings));
  if (has(attack.props, Prop::kAccomplice)) return with_accomplice(*gate, attack, world, jail);
  if (has(attack.props, Prop::kPartner)) return with_partner(*gate, attack, world, jail);
  JailedSubprocessSpec spec = TRY(spec_for(attack, world, attack.name, jail));
  std::unique_ptr<Workspace> workspace;
  if (has(attack.props, Prop::kWorkspace) && jail != JailKind::kNone) {
    workspace = TRY(Workspace::open({.repo = world.repo(), .state_dir = world.outside("workspaces")}));
    spec.workspace = workspace.get();
  }
  const JailedSubprocessResult result = TRY(gate->run(spec, jail, {}));
  Evidence evidence = evidence_of(attack, result);
  if (has(attack.props, Prop::kToAGroup) && lists(result.receipt, Mechanism::kConnectionsCarried)) {
    evidence.stays_inside = "a datagram to a group stays on the jail's own loopback there";
  }
  if (has(attack.props, Prop::kToTheKernel) && lists(result.receipt, Mechanism::kGuestKernel)) {
    evidence.stays_inside = "it is that kernel's own, and nothing of the host's";
  }
  return evidence;
}

// A refusal stops attacks on which program runs: only for these it counts as the defence.
bool refusal_is_the_defence(const Case& attack, const Error& error) {
  // What cannot be protected is not run.
  if (has(attack.props, Prop::kLinkedCorner)) {
    return error.as<InvalidRequest>() != nullptr || error.as<GuaranteeUnavailable>() != nullptr;
  }
  const bool about_identity = attack.guarantee == Guarantee::kExecAllowlisted ||
                              attack.guarantee == Guarantee::kExecPinned || has(attack.props, Prop::kPreload);
  return about_identity && (error.as<DisallowedSubprocessError>() != nullptr ||
                            error.as<UntrustedToolError>() != nullptr || error.as<InvalidRequest>() != nullptr);
}

constexpr Case kHarmless{"forge_text", Guarantee::kLimitWall, Effect::kForgesVerdict, Prop::kNothing, "print"};

Try try_in_jail(const Case& attack, const Surroundings& surroundings, JailKind jail) {
  const Result<World> world = World::make(attack, surroundings);
  if (!world) return {.got = Got::kNotTried, .why = world.error().message};
  const Result<Evidence> evidence = attack_jail(attack, *world, surroundings, jail);
  if (!evidence) {
    const Error& error = evidence.error();
    if (refusal_is_the_defence(attack, error)) return {.got = Got::kBlocked, .why = error.message};
    const bool refused = error.as<GuaranteeUnavailable>() != nullptr;
    return {.got = refused ? Got::kRefused : Got::kNotTried, .why = error.message};
  }
  const bool shows = effect_shows(attack, *world, *evidence);
  if (shows && evidence->stays_inside.empty()) return {.got = Got::kThrough};
  if (!was_tried(attack, *evidence)) return {.got = Got::kNotTried, .why = "the attack program did not start"};
  return {.got = Got::kBlocked, .why = shows ? evidence->stays_inside : std::string()};
}

}  // namespace

std::string_view name_of(Got got) {
  switch (got) {
    case Got::kThrough:
      return "got through";
    case Got::kBlocked:
      return "blocked";
    case Got::kRefused:
      return "refused";
    case Got::kImpossible:
      return "impossible here";
    case Got::kNotTried:
      break;
  }
  return "not tried";
}

std::vector<Finding> perform(const Case& attack, const Surroundings& surroundings, std::span<const JailKind> jails) {
  const Try control = try_without_gate(attack, surroundings);
  std::vector<Finding> findings;
  for (const JailKind jail : jails) {
    findings.push_back({.attack = &attack, .control = control, .jailed = try_in_jail(attack, surroundings, jail)});
  }
  return findings;
}

Finding perform(const Case& attack, const Surroundings& surroundings, JailKind jail) {
  return perform(attack, surroundings, std::span(&jail, 1)).front();
}

Result<std::vector<Established>> probe(const Surroundings& surroundings, JailKind jail) {
  const World world = TRY(World::make(kHarmless, surroundings));
  const std::unique_ptr<Gate> gate = TRY(open_gate(kHarmless, world, surroundings));
  const JailedSubprocessSpec spec = TRY(spec_for(kHarmless, world, kHarmless.name, jail));
  return TRY(gate->run(spec, jail, {})).receipt.established;
}

Status could_start(const Surroundings& surroundings, JailKind jail) {
  const World world = TRY(World::make(kHarmless, surroundings));
  const std::unique_ptr<Gate> gate = TRY(open_gate(kHarmless, world, surroundings));
  const JailedSubprocessSpec spec = TRY(spec_for(kHarmless, world, kHarmless.name, jail));
  TRY(gate->explain(spec, jail));
  return {};
}

Result<std::vector<Established>> probe_what_is_asked_for(const Surroundings& surroundings, JailKind jail) {
  struct Wish {
    Guarantee guarantee;
    void (*ask)(JailedSubprocessSpec&);
  };
  constexpr auto kWishes = std::to_array<Wish>({
      {Guarantee::kNetEgressAllowlist,
       [](JailedSubprocessSpec& spec) {
         if (Result<HostRule> nobody = parse_host_rule("nobody.invalid")) spec.allowed_hosts = {*std::move(nobody)};
       }},
      {Guarantee::kLimitMemory, [](JailedSubprocessSpec& spec) { spec.limits.memory = mebibytes(64); }},
      {Guarantee::kLimitPids, [](JailedSubprocessSpec& spec) { spec.limits.pids = 16; }},
      {Guarantee::kLimitCpu, [](JailedSubprocessSpec& spec) { spec.limits.cpu = 10s; }},
      {Guarantee::kNetUnixIsolated,
       [](JailedSubprocessSpec& spec) { spec.required.push_back(Guarantee::kNetUnixIsolated); }},
  });
  const World world = TRY(World::make(kHarmless, surroundings));
  const std::unique_ptr<Gate> gate = TRY(open_gate(kHarmless, world, surroundings));
  const JailedSubprocessSpec harmless = TRY(spec_for(kHarmless, world, kHarmless.name, jail));
  std::vector<Established> given;
  const auto ask = [&](std::span<const Wish> wishes) {
    JailedSubprocessSpec spec = harmless;
    for (const Wish& wish : wishes) wish.ask(spec);
    const Result<JailedSubprocessResult> result = gate->run(spec, jail, {});
    if (!result) return false;
    for (const Established& one : result->receipt.established) {
      if (std::ranges::find(wishes, one.guarantee, &Wish::guarantee) != wishes.end()) given.push_back(one);
    }
    return true;
  };
  std::vector<Wish> admitted;  // the others are refused before anything starts
  for (const Wish& wish : kWishes) {
    JailedSubprocessSpec spec = harmless;
    wish.ask(spec);
    if (gate->explain(spec, jail)) admitted.push_back(wish);
  }
  if (!ask(admitted)) {
    for (const Wish& wish : admitted) static_cast<void>(ask(std::span(&wish, 1)));
  }
  return given;
}

}  // namespace sallyport::attack
