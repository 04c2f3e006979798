// A state directory for every program of ours that a test starts, so that its audit log never lands in the real user's.
#pragma once

#include <filesystem>
#include <optional>

#include "support/plain_user.h"

namespace sallyport::test {

// One for each user (tests drop to others) and the whole test program, gone at its end.
[[nodiscard]] std::filesystem::path state_home(const std::optional<PlainUser>& user);

}  // namespace sallyport::test
