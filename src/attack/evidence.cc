#include "attack/evidence.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "core/errors.h"
#include "os/file.h"
#include "os/process_table.h"

namespace sallyport::attack {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kPause{10};

bool says(const Evidence& evidence, const std::string& line) {
  return evidence.output.find("EFFECT:" + line) != std::string::npos;
}

template <class Condition>
bool within(milliseconds at_most, Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

}  // namespace

bool was_tried(const Case& attack, const Evidence& evidence) {
  // A flood pushes the first line out of the kept output; its size is proof enough.
  if (attack.effect == Effect::kFloods && evidence.most_kept >= kOutputCap) return true;
  return evidence.output.find("ATTACK:" + std::string(attack.name)) != std::string::npos;
}

bool effect_shows(const Case& attack, const World& world, const Evidence& evidence) {
  switch (attack.effect) {
    case Effect::kPrintsCanary:
      return says(evidence, world.canary());
    case Effect::kPrintsBroken:
      return says(evidence, "broken");
    case Effect::kVictimChanged:
      return world.victim_changed();
    case Effect::kFileAppears:
      return world.file_appeared();
    case Effect::kSetIdLeft:
      return world.set_id_left();
    case Effect::kHeard:
      return world.heard();
    case Effect::kSmuggled:
      return world.smuggled();
    case Effect::kKilled:
      return evidence.accomplice_dead;
    case Effect::kSurvives: {
      const bool found = survivor_found_and_killed(world.marker());
      return found || evidence.outlived;
    }
    case Effect::kFloods:
      return evidence.most_kept > kOutputCap;
    case Effect::kForgesVerdict:
      return evidence.misjudged;
  }
  return true;
}

std::optional<pid_t> find_process(std::string_view marker, pid_t except) {
  const Result<std::vector<ProcessEntry>> processes = list_processes();
  if (!processes) return std::nullopt;
  for (const ProcessEntry& process : *processes) {
    if (process.pid == except || process.pid == ::getpid() || process.state == 'Z') continue;
    const Result<std::string> words =
        read_whole_file("/proc/" + std::to_string(process.pid) + "/cmdline", mebibytes(4));
    if (words && words->find(marker) != std::string::npos) return process.pid;
  }
  return std::nullopt;
}

std::vector<ProcessEntry> descendants_of(pid_t owner) {
  std::vector<ProcessEntry> found;
  const Result<std::vector<ProcessEntry>> all = list_processes();
  if (!all) return found;
  std::vector<pid_t> parents = {owner};
  while (!parents.empty()) {
    const pid_t parent = parents.back();
    parents.pop_back();
    for (const ProcessEntry& one : *all) {
      if (one.parent != parent || one.state == 'Z') continue;
      found.push_back(one);
      parents.push_back(one.pid);
    }
  }
  return found;
}

bool any_lives_on_and_is_killed(const std::vector<ProcessEntry>& processes) {
  constexpr milliseconds kTimeToDie{5000};
  std::vector<pid_t> alive;
  const auto all_are_gone = [&] {
    alive.clear();
    const Result<std::vector<ProcessEntry>> now = list_processes();
    if (!now) return false;
    for (const ProcessEntry& one : *now) {
      const bool is_one = std::ranges::any_of(processes, [&](const ProcessEntry& known) {
        return known.pid == one.pid && known.start_ticks == one.start_ticks && one.state != 'Z';
      });
      if (is_one) alive.push_back(one.pid);
    }
    return alive.empty();
  };
  if (within(kTimeToDie, all_are_gone)) return false;
  for (const pid_t pid : alive) ::kill(pid, SIGKILL);
  return true;
}

bool survivor_found_and_killed(std::string_view marker) {
  constexpr milliseconds kTimeToDie{2000};
  constexpr int kLooks = 5;
  // One scan may miss a process that forks meanwhile: it counts as gone only after several scans.
  int absent = 0;
  const auto stays_gone = [&] {
    absent = find_process(marker) ? 0 : absent + 1;
    return absent >= kLooks;
  };
  if (within(kTimeToDie, stays_gone)) return false;
  while (const std::optional<pid_t> survivor = find_process(marker)) {
    ::kill(*survivor, SIGKILL);
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

spawn::CarelessStart careless(const World& world, std::string_view deed) {
  spawn::CarelessStart start{.program = world.tool(),
                             .argv = {std::string(kProgramName), std::string(deed)},
                             .cwd = world.repo(),
                             .stdout_to = world.outside("stdout"),
                             .stderr_to = world.outside("stderr"),
                             .stdin_fd = world.given_stdin()};
  for (std::string& word : world.arguments()) start.argv.push_back(std::move(word));
  for (const EnvVar& var : world.environment()) start.env.push_back(var.name + "=" + var.value);
  return start;
}

constexpr milliseconds kPartnerPatience{10'000};

void clean_up_after_partner(const World& world) {
  Result<spawn::CarelessProcess> cleaner = spawn::CarelessProcess::start(careless(world, "partner_clean_up"));
  if (cleaner) static_cast<void>(cleaner->wait(kPartnerPatience));
}

Result<spawn::CarelessProcess> start_accomplice(const World& world) {
  spawn::CarelessStart start = careless(world, "accomplice");
  const std::filesystem::path ready = world.outside("ready");
  start.argv.push_back("secret=" + world.canary());
  start.argv.push_back("ready=" + ready.native());
  start.stdout_to = world.outside("accomplice");
  spawn::CarelessProcess accomplice = TRY(spawn::CarelessProcess::start(start));
  std::error_code error;
  if (!within(kPartnerPatience, [&] { return std::filesystem::exists(ready, error); })) {
    return fail(system_error("start", "the accomplice", ETIMEDOUT));
  }
  return accomplice;
}

}  // namespace sallyport::attack
