#include "support/plain_user.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#include <cstdint>

namespace sallyport::test {
namespace {

// A number that this host gives to nobody. Not 65534: other things run as nobody, and a test that counts a user's
// processes must be alone.
std::uint32_t free_id() {
  std::uint32_t id = 12345;
  while (::getpwuid(id) != nullptr || ::getgrgid(id) != nullptr) ++id;
  return id;
}

}  // namespace

std::optional<PlainUser> as_plain_user() {
  if (geteuid() != 0) return std::nullopt;
  static const std::uint32_t id = free_id();
  return PlainUser{.uid = id, .gid = id};
}

void give_to(const std::filesystem::path& path, const std::optional<PlainUser>& user) {
  if (user && lchown(path.c_str(), user->uid, user->gid) != 0) perror("lchown");
}

void drop_to(const PlainUser& user) {
  if (setgroups(0, nullptr) == 0 && setresgid(user.gid, user.gid, user.gid) == 0 &&
      setresuid(user.uid, user.uid, user.uid) == 0) {
    return;
  }
  perror("drop to the plain user");
  _exit(126);
}

}  // namespace sallyport::test
