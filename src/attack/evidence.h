// What an attempt left behind, and what follows from it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attack/case.h"
#include "attack/world.h"
#include "os/process_table.h"
#include "spawn/without_gate.h"

namespace sallyport::attack {

inline constexpr std::uint64_t kOutputCap = 64 * 1024;

struct Evidence {
  std::string output{};         // stdout as kept
  std::uint64_t most_kept = 0;  // of either stream
  bool accomplice_dead = false;
  bool misjudged = false;      // the verdict is not the plain end that happened
  bool outlived = false;       // a process of the run lives on after its owner
  std::string stays_inside{};  // why the attack may succeed inside and still reaches nothing outside
};

[[nodiscard]] bool effect_shows(const Case& attack, const World& world, const Evidence& evidence);
// True when the attack program reported that it ran.
[[nodiscard]] bool was_tried(const Case& attack, const Evidence& evidence);

// Every live process below `owner`.
[[nodiscard]] std::vector<ProcessEntry> descendants_of(pid_t owner);
// True when one of them is still alive after the kernel has had time to finish the killed ones; kills what it finds.
[[nodiscard]] bool any_lives_on_and_is_killed(const std::vector<ProcessEntry>& processes);

// A live process with this marker on its command line, `except` apart.
[[nodiscard]] std::optional<pid_t> find_process(std::string_view marker, pid_t except = -1);
// The same, after the kernel has had time to finish the killed ones; kills what it finds.
[[nodiscard]] bool survivor_found_and_killed(std::string_view marker);

// A process outside with secrets (Prop::kAccomplice), there and ready.
[[nodiscard]] Result<spawn::CarelessProcess> start_accomplice(const World& world);
// argv, environment and files of a careless start of the attack program.
[[nodiscard]] spawn::CarelessStart careless(const World& world, std::string_view deed);

// Removes what a partner leaves on a host when there is no jail.
void clean_up_after_partner(const World& world);

}  // namespace sallyport::attack
