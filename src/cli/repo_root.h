// Which repo a directory belongs to, for callers who do not say.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "cli/environment.h"
#include "locate/trust.h"
#include "sallyport/event.h"

namespace sallyport::cli {

struct RepoRoot {
  std::filesystem::path path;
  // A `.git` on the way that was not believed, and why; empty when there was none. Worth a word to the user: git itself
  // will not find its repo in a jail that starts below.
  std::string ignored{};
};

// Whose `.git` counts. `sudo_uid` is who called sudo: git believes that user too (CVE-2022-24765), because root then acts
// for them.
struct RepoOwners {
  TrustContext us{};
  std::optional<uid_t> sudo_uid{};

  // The ids of this process; `sudo_uid_text` is the value of SUDO_UID and counts for root only.
  [[nodiscard]] static RepoOwners current(const std::optional<std::string>& sudo_uid_text);
};

// The nearest directory from `cwd` upwards that has a `.git`, else `cwd`. Never `home`, `/` or anything above `home`:
// a stray `.git` there must not put a whole home directory into the analysed repo. Both canonical; `home` may be empty.
//
// The search ends, and `cwd` is the repo, at a directory that belongs to another user or that others can write (the rule
// is the one for directories of programs, locate/trust.h), at a `.git` that is another user's, and where another file
// system begins. Somebody else could have put a `.git` there to widen the repo to their neighbour's files.
[[nodiscard]] RepoRoot find_repo_root(const std::filesystem::path& cwd, const std::filesystem::path& home,
                                      const RepoOwners& owners);

// The same for this process and its user's home. A `.git` that was not believed is an event.
[[nodiscard]] std::filesystem::path repo_around(const std::filesystem::path& directory, const Environment& environment,
                                                EventSink& events);

}  // namespace sallyport::cli
