// Finds the repo of a directory, for callers that do not name it.
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
  // A `.git` on the way that was ignored, and why; empty when there was none. The user should know: git itself will not
  // find its repo in a jail that starts below.
  std::string ignored{};
};

// Whose `.git` counts. `sudo_uid` is the user who called sudo: git trusts that user too (CVE-2022-24765), because root
// then acts for that user.
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
// is the one for directories of programs, locate/trust.h), at another user's `.git`, and where another file system
// begins. Another user could have put a `.git` there to widen the repo to other files.
[[nodiscard]] RepoRoot find_repo_root(const std::filesystem::path& cwd, const std::filesystem::path& home,
                                      const RepoOwners& owners);

// The same for this process and its user's home. An ignored `.git` is an event.
[[nodiscard]] std::filesystem::path repo_around(const std::filesystem::path& directory, const Environment& environment,
                                                EventSink& events);

}  // namespace sallyport::cli
