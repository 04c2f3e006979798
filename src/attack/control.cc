#include "attack/control.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "attack/evidence.h"
#include "os/file.h"

namespace sallyport::attack {
namespace {

using spawn::CarelessProcess;
using std::chrono::milliseconds;

constexpr milliseconds kPatience{30'000};
constexpr milliseconds kDeadline{700};  // of a caller that only sends SIGTERM

Try impossible(const Error& error) { return {.got = Got::kImpossible, .why = error.message}; }

std::string kept(const std::filesystem::path& path) { return read_whole_file(path, mebibytes(16)).value_or(""); }

// What a caller would conclude from exit codes and texts.
bool looks_killed(int status, const std::string& output) {
  constexpr int kTimeoutCode = 124;
  return WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) >= kTimeoutCode) ||
         output.find("killed") != std::string::npos;
}

Evidence gather(const World& world, int status) {
  Evidence evidence;
  evidence.output = kept(world.outside("stdout"));
  evidence.most_kept = std::max(evidence.output.size(), kept(world.outside("stderr")).size());
  evidence.misjudged = looks_killed(status, evidence.output);
  return evidence;
}

spawn::CarelessStart careless_attack(const Case& attack, const World& world) {
  spawn::CarelessStart start = careless(world, attack.name);
  if (has(attack.props, Prop::kImpostor)) start.program = world.impostor();
  if (has(attack.props, Prop::kPreload)) start.env.emplace_back("LD_PRELOAD=/nonexistent.so");
  return start;
}

// Processes that live while the effect is judged; destroying this value kills and reaps them.
using Bystanders = std::vector<CarelessProcess>;

// The attacker ends by itself, or gets SIGTERM after the caller's deadline; then a careless caller continues without a
// check.
Result<int> run_to_end(const Case& attack, const spawn::CarelessStart& start, Bystanders& bystanders) {
  bystanders.push_back(TRY(CarelessProcess::start(start)));
  CarelessProcess& attacker = bystanders.back();
  const bool lingers = attack.effect == Effect::kSurvives;
  if (const std::optional<int> status = attacker.wait(lingers ? kDeadline : kPatience)) return *status;
  attacker.send_signal(SIGTERM);
  return attacker.wait(kDeadline).value_or(0);
}

Result<Evidence> with_partner(const Case& attack, const World& world, Bystanders& bystanders) {
  spawn::CarelessStart side = careless(world, "partner");
  side.argv.push_back("secret=" + world.canary());
  side.stdout_to = world.outside("partner");
  int status = 0;
  {
    const CarelessProcess partner = TRY(CarelessProcess::start(side));
    status = TRY(run_to_end(attack, careless_attack(attack, world), bystanders));
  }
  clean_up_after_partner(world);
  return gather(world, status);
}

Result<Evidence> with_accomplice(const Case& attack, const World& world, Bystanders& bystanders) {
  CarelessProcess accomplice = TRY(start_accomplice(world));
  spawn::CarelessStart start = careless_attack(attack, world);
  start.argv.push_back("pid=" + std::to_string(accomplice.pid()));
  const int status = TRY(run_to_end(attack, start, bystanders));
  Evidence evidence = gather(world, status);
  constexpr milliseconds kTimeToDie{1000};
  evidence.accomplice_dead = attack.effect == Effect::kKilled && accomplice.wait(kTimeToDie).has_value();
  return evidence;
}

Result<Evidence> with_dying_owner(const World& world) {
  CarelessProcess owner = TRY(CarelessProcess::start(careless(world, "careless_owner")));
  while (!find_process(world.marker(), owner.pid())) std::this_thread::sleep_for(milliseconds(5));
  owner.send_signal(SIGKILL);
  static_cast<void>(owner.wait(kPatience));
  Evidence evidence = gather(world, 0);
  evidence.output += "ATTACK:orphan";  // the owner's child is the attacker
  return evidence;
}

Result<Evidence> attack_carelessly(const Case& attack, const World& world, Bystanders& bystanders) {
  if (has(attack.props, Prop::kOwnerDies)) return with_dying_owner(world);
  if (has(attack.props, Prop::kAccomplice)) return with_accomplice(attack, world, bystanders);
  if (has(attack.props, Prop::kPartner)) return with_partner(attack, world, bystanders);
  const int status = TRY(run_to_end(attack, careless_attack(attack, world), bystanders));
  return gather(world, status);
}

}  // namespace

Try try_without_gate(const Case& attack, const Surroundings& surroundings) {
  if (has(attack.props, Prop::kNeedsRoot) && ::geteuid() != 0) {
    return {.got = Got::kImpossible, .why = "only root could do it anyway"};
  }
  const Result<World> world = World::make(attack, surroundings);
  if (!world) return impossible(world.error());
  Bystanders bystanders;
  const Result<Evidence> evidence = attack_carelessly(attack, *world, bystanders);
  if (!evidence) return {.got = Got::kNotTried, .why = evidence.error().message};
  if (effect_shows(attack, *world, *evidence)) return {.got = Got::kThrough};
  if (!was_tried(attack, *evidence)) return {.got = Got::kNotTried, .why = "the attack program did not start"};
  return {.got = Got::kImpossible, .why = "it fails on this host even without a jail"};
}

}  // namespace sallyport::attack
