#include "gate/policy_file.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <string>

#include "core/errors.h"
#include "locate/trust.h"
#include "os/canonical.h"
#include "os/file.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

constexpr ByteCount kLargestPolicy = mebibytes(1);

Error not_trusted(const fs::path& file, const TrustProblem& problem) {
  if (problem.error_number == ENOEXEC) {
    return policy_error(file.native(), 0, 0, "not a regular file", "name a regular file as `policy`");
  }
  if (problem.error_number != 0) {
    return policy_error(file.native(), 0, 0, system_error("open", problem.where, problem.error_number).message,
                        "name a readable file as `policy`");
  }
  return policy_error(file.native(), 0, 0, fmt::format("{} {}", problem.where, problem.why),
                      "a policy decides what may run: keep it where only you or root can change it");
}

// Opens the very file whose path was checked, even if a rename has happened since.
Result<UniqueFd> open_policy(const fs::path& file, const fs::path& repo) {
  const fs::path absolute = TRY(absolute_from_here(file));
  const Trusted<TrustedNode> node = trusted_file(absolute, TrustContext::current(repo));
  if (!node && node.error().why == kLiesInsideRepo) {
    return fail(policy_error(file.native(), 0, 0, fmt::format("it lies inside the analysed repo {}", repo.native()),
                             "a repo must not say what may be run over it: keep the policy elsewhere"));
  }
  if (!node) return fail(not_trusted(file, node.error()));
  Result<UniqueFd> fd =
      open_path(fmt::format("/proc/self/fd/{}", node->fd.get()), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (!fd) return fail(policy_error(file.native(), 0, 0, fd.error().message, "name a readable file as `policy`"));
  return fd;
}

Result<Allowlist> parse_policy(const UniqueFd& fd, const fs::path& file) {
  const Result<std::string> text = read_all(fd.get(), kLargestPolicy, file.native());
  if (!text) return fail(policy_error(file.native(), 0, 0, text.error().message, "a policy takes at most 1 MiB"));
  return Allowlist::from_policy(*text, file.native());
}

}  // namespace

Result<Allowlist> load_allowlist(const std::optional<fs::path>& policy, const fs::path& repo) {
  if (!policy) return Allowlist::builtin();
  const UniqueFd fd = TRY(open_policy(*policy, repo));
  return parse_policy(fd, *policy);
}

}  // namespace sallyport
