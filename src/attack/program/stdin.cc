// Standard input is a file of the caller's, open for reading and writing: what its bytes say is for the tool, the file is
// not.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>

#include "attack/program/attack.h"

namespace sallyport::attacks {
namespace {

void write_here() {
  constexpr std::string_view kGraffiti = "was here\n";
  if (write(STDIN_FILENO, kGraffiti.data(), kGraffiti.size()) < 0) return;
}

void reopen() { put("/proc/self/fd/0", "was here\n"); }

void change_times() {
  constexpr timespec kLongAgo[2] = {{1, 0}, {1, 0}};
  futimens(STDIN_FILENO, kLongAgo);
}

void print_path() {
  char name[4096];
  const ssize_t size = readlink("/proc/self/fd/0", name, sizeof name);
  if (size > 0) effect({name, static_cast<std::size_t>(size)});
}

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"stdin_truncate",
          [] {
            if (ftruncate(STDIN_FILENO, 0) != 0) return;
          }},
    Entry{"stdin_write", write_here},
    Entry{"stdin_reopen", reopen},
    Entry{"stdin_chmod", [] { fchmod(STDIN_FILENO, 04755); }},
    Entry{"stdin_utimes", change_times},
    Entry{"stdin_xattr", [] { fsetxattr(STDIN_FILENO, "user.sallyport", "x", 1, 0); }},
    Entry{"stdin_path", print_path},
});

}  // namespace

std::span<const Entry> stdin_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
