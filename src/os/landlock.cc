#include "os/landlock.h"

#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "core/errors.h"

namespace sallyport {
namespace {

// From a kernel newer than the headers of our build.
struct RulesetAttributes {
  std::uint64_t handled_access_fs = 0;
  std::uint64_t handled_access_net = 0;  // ABI 4
  std::uint64_t scoped = 0;              // ABI 6
};
constexpr std::uint64_t kTruncate = std::uint64_t{1} << 14U;       // ABI 3
constexpr std::uint64_t kDeviceControl = std::uint64_t{1} << 15U;  // ABI 5
constexpr std::uint64_t kBindAndConnect = 3;                       // ABI 4
constexpr std::uint64_t kAbstractSocketsAndSignals = 3;            // ABI 6

constexpr std::uint64_t kReadFile = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;
constexpr std::uint64_t kRead = kReadFile | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kWriteFile = LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
constexpr std::uint64_t kWrite = kWriteFile | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                                 LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
                                 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                                 LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                                 LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER;

std::uint64_t rights_of(const LandlockRule& rule) {
  switch (rule.access) {
    case LandlockAccess::kRead:
      return rule.is_directory ? kRead : kReadFile;
    case LandlockAccess::kWrite:
      return rule.is_directory ? kRead | kWrite : kReadFile | kWriteFile;
    case LandlockAccess::kDevice:
      break;
  }
  return LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
}

RulesetAttributes attributes_for(int abi) {
  RulesetAttributes attributes{.handled_access_fs = kRead | kWrite};
  if (abi >= 4) attributes.handled_access_net = kBindAndConnect;
  if (abi >= 5) attributes.handled_access_fs |= kDeviceControl;
  if (abi >= 6) attributes.scoped = kAbstractSocketsAndSignals;
  return attributes;
}

// A kernel refuses a longer structure only if a field that it does not know is set.
std::size_t size_for(int abi) {
  if (abi >= 6) return sizeof(RulesetAttributes);
  return abi >= 4 ? offsetof(RulesetAttributes, scoped) : offsetof(RulesetAttributes, handled_access_net);
}

}  // namespace

int landlock_abi() {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

Result<UniqueFd> make_landlock_ruleset(std::span<const LandlockRule> rules) {
  const int abi = landlock_abi();
  if (abi < kLowestLandlockAbi) return fail(system_error("make", "a Landlock ruleset", ENOSYS));
  const RulesetAttributes attributes = attributes_for(abi);
  UniqueFd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size_for(abi), 0)));
  if (!ruleset) return fail(system_error("make", "a Landlock ruleset", errno));
  for (const LandlockRule& rule : rules) {
    const landlock_path_beneath_attr beneath{.allowed_access = rights_of(rule), .parent_fd = rule.beneath};
    if (::syscall(SYS_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) != 0) {
      return fail(system_error("add to", "a Landlock ruleset", errno));
    }
  }
  return ruleset;
}

}  // namespace sallyport
