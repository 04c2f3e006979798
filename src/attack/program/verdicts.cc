// Pretends to end in another way than it does.
#include <signal.h>
#include <unistd.h>

#include <array>

#include "attack/program/attack.h"

namespace sallyport::attacks {
namespace {

void forge_text() {
  constexpr std::string_view kLie = "sandbox denied\nkilled: timed out, out of memory\n";
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    if (write(fd, kLie.data(), kLie.size()) < 0) return;
  }
}

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"forge_exit_137", [] { _exit(137); }},
    Entry{"forge_sigkill", [] { kill(getpid(), SIGKILL); }},
    Entry{"forge_exit_124", [] { _exit(124); }},
    Entry{"forge_text", forge_text},
});

}  // namespace

std::span<const Entry> verdict_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
