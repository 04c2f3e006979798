#include "support/state_home.h"

#include <sys/stat.h>

#include <string>

#include "support/temp_dir.h"

namespace sallyport::test {

std::filesystem::path state_home(const std::optional<PlainUser>& user) {
  static const TempDir directory;
  const std::filesystem::path own = directory / (user ? std::to_string(user->uid) : "ours");
  if (::mkdir(own.c_str(), 0700) == 0) give_to(own, user);
  return own;
}

}  // namespace sallyport::test
