// The unprivileged side of every test that must hold "as root and as a plain user".
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

namespace sallyport::test {

struct PlainUser {
  uid_t uid;
  gid_t gid;
};

// A user nobody else has, when we are root and can become it; nothing when we already are a plain user: run as
// ourselves then.
[[nodiscard]] std::optional<PlainUser> as_plain_user();

// Makes a file or directory (not what is in it) the user's own. No-op without a user.
void give_to(const std::filesystem::path& path, const std::optional<PlainUser>& user);

// For a forked child: groups, gid, uid, in that order, for good. Ends the process when it cannot.
void drop_to(const PlainUser& user);

}  // namespace sallyport::test
