#include "cli/policy_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "core/errors.h"
#include "core/paths.h"
#include "os/file.h"

namespace sallyport::cli {
namespace {

namespace fs = std::filesystem;

constexpr ByteCount kLargestPolicy = mebibytes(1);

Result<UniqueFd> open_policy(const fs::path& file) {
  // NONBLOCK: opening a FIFO without a writer must not hang; it is refused right after.
  Result<UniqueFd> fd = open_path(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (!fd) return fail(policy_error(file.native(), 0, 0, fd.error().message, "name a readable file after --policy"));
  struct stat status{};
  if (fstat(fd->get(), &status) != 0) return fail(system_error("inspect", file.native(), errno));
  if (!S_ISREG(status.st_mode)) {
    return fail(policy_error(file.native(), 0, 0, "not a regular file", "name a regular file after --policy"));
  }
  return fd;
}

Result<Allowlist> parse_policy(const UniqueFd& fd, const fs::path& file) {
  const Result<std::string> text = read_all(fd.get(), kLargestPolicy, file.native());
  if (!text) return fail(policy_error(file.native(), 0, 0, text.error().message, "a policy takes at most 1 MiB"));
  return Allowlist::from_policy(*text, file.native());
}

}  // namespace

Result<Allowlist> load_allowlist(const std::optional<fs::path>& policy) {
  if (!policy) return Allowlist::builtin();
  const UniqueFd fd = TRY(open_policy(*policy));
  return parse_policy(fd, *policy);
}

Result<Allowlist> load_allowlist_outside(const std::optional<fs::path>& policy, const fs::path& repo) {
  if (!policy) return Allowlist::builtin();
  const UniqueFd fd = TRY(open_policy(*policy));
  // Asked of the open file, not of its name: a name can lead elsewhere by the time it is looked at again.
  std::error_code error;
  const fs::path opened = fs::read_symlink(fmt::format("/proc/self/fd/{}", fd.get()), error);
  if (error) return fail(system_error("locate", policy->native(), error.value(), "is /proc mounted?"));
  if (is_inside(opened, repo)) {
    return fail(policy_error(policy->native(), 0, 0, fmt::format("it lies inside the analysed repo {}", repo.native()),
                             "a repo must not say what may be run over it: keep the policy elsewhere"));
  }
  return parse_policy(fd, *policy);
}

}  // namespace sallyport::cli
