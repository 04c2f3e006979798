// Attacks by being started: as another program, and by what the tool gets at its start.
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>

#include "attack/program/attack.h"

namespace sallyport::attacks {
namespace {

// The impostor is the same program in another place; only there does being started mean anything.
void as_impostor() {
  std::string exe(PATH_MAX, '\0');
  const ssize_t size = readlink("/proc/self/exe", exe.data(), exe.size());
  exe.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  if (exe == arg("impostor")) broken();
}

void env_secrets() {
  for (const char* name :
       {"SSH_AUTH_SOCK", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"}) {
    const char* const value = getenv(name);
    if (value != nullptr) effect(value);
  }
}

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"planted_in_repo", as_impostor},
    Entry{"planted_in_tmp", as_impostor},
    Entry{"path_as_tool", as_impostor},
    Entry{"swapped_binary", broken},
    Entry{"unlisted_tool", broken},
    Entry{"env_secrets", env_secrets},
    Entry{"ld_preload",
          [] {
            if (getenv("LD_PRELOAD") != nullptr) broken();
          }},
});

}  // namespace

std::span<const Entry> identity_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
