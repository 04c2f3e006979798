// Decides who could have put a file where it is. Walks a path one component at a time by descriptor, follows symlinks
// itself, and checks the owner and mode of every directory, symlink and file on the way.
//
// A file is trusted if only root or we can change it:
//   - the owner is root or our effective uid;
//   - no other user may write. A group may if it is root's (gid 0) or our own user-private group, Debian's convention
//     of one group per user with gid == uid; not when an ACL is attached. A root:staff 2775 /usr/local/bin is refused;
//   - a world-writable directory may be passed through only when it is sticky (/tmp) and, as always, the next
//     component is root's or ours. Nothing may be looked up in one: neither the tool nor a symlink on the way;
//   - nothing on the way lies in the analysed repo.
// In a user namespace that does not map the host's root, its files show up as owned by the overflow uid. Then that
// owner is accepted for "/" and for "/usr" and what is beneath it, and nowhere else.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <expected>
#include <filesystem>
#include <optional>
#include <string>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

// Who we are; taken from the process once per lookup, injectable for tests.
struct TrustContext {
  uid_t uid = 0;
  gid_t gid = 0;
  std::optional<uid_t> unmapped_root{};  // the overflow uid, when this user namespace does not map the host's root
  std::filesystem::path repo{};          // canonical; empty: none

  [[nodiscard]] static TrustContext current(std::filesystem::path repo);
};

struct TrustedNode {
  UniqueFd fd;                 // O_PATH
  std::filesystem::path path;  // canonical
  struct stat info{};
};

// TrustProblem::why of what lies in TrustContext::repo.
inline constexpr std::string_view kLiesInsideRepo = "lies inside the analysed repo";

struct TrustProblem {
  int error_number = 0;  // ENOENT, ELOOP … when the walk ended there; 0 when a rule was broken
  std::string where;     // the component that breaks the rule
  std::string why;       // "is writable by every user", "is owned by uid 1000", …
  std::string hint;
};

template <class T>
using Trusted = std::expected<T, TrustProblem>;

// An absolute, existing directory in which programs may be looked up.
[[nodiscard]] Trusted<TrustedNode> trusted_directory(const std::filesystem::path& path, const TrustContext& context);
// A regular file, by a name in such a directory or by an absolute path.
[[nodiscard]] Trusted<TrustedNode> trusted_file(const std::filesystem::path& path, const TrustContext& context);

// The rule for one node; `last` when something will be looked up or executed there. nullopt: it passes.
enum class NodeRole { kPassedThrough, kLookedUpIn, kSymlink, kFile };
[[nodiscard]] std::optional<TrustProblem> judge(const struct stat& info, const std::filesystem::path& path,
                                                NodeRole role, const TrustContext& context);

}  // namespace sallyport
