#include "support/plain_user.h"

#include <grp.h>
#include <stdio.h>
#include <unistd.h>

namespace sallyport::test {

std::optional<PlainUser> as_plain_user() {
  if (geteuid() != 0) return std::nullopt;
  // Not 65534: other things run as nobody, and a test that counts a user's processes must be alone.
  return PlainUser{.uid = 12345, .gid = 12345};
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
