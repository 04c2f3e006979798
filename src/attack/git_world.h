// A repo with git directories of every kind, for the attacks on them, and what each attack would leave there.
#pragma once

#include <filesystem>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport::attack {

[[nodiscard]] Status make_git_repo(const std::filesystem::path& repo);

// The file in the repo that the attack makes or changes.
[[nodiscard]] std::filesystem::path git_target(std::string_view attack);

}  // namespace sallyport::attack
