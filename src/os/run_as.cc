#include "os/run_as.h"

#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace sallyport {
namespace {

// The kernel shows this for an id that is not mapped here (user_namespaces(7)); also Debian's nobody and nogroup.
constexpr std::uint32_t kNobody = 65534;

// A container's root may lack both.
bool may_change_ids() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> held{};
  if (::syscall(SYS_capget, &header, held.data()) != 0) return false;
  constexpr std::uint32_t kNeeded = CAP_TO_MASK(CAP_SETUID) | CAP_TO_MASK(CAP_SETGID);
  return (held[0].effective & kNeeded) == kNeeded;
}

}  // namespace

std::optional<UserIds> owner_to_run_as(const std::filesystem::path& directory) {
  if (::geteuid() != 0) return std::nullopt;
  struct stat about{};
  if (::stat(directory.c_str(), &about) != 0) return std::nullopt;
  if (about.st_uid == 0 || about.st_uid == kNobody || !may_change_ids()) return std::nullopt;
  // The group root gives access to files of root's that no user should read; nogroup gives access to none.
  return UserIds{.uid = about.st_uid, .gid = about.st_gid == 0 ? kNobody : about.st_gid};
}

}  // namespace sallyport
