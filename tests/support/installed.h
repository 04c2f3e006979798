// Where this build put the things under test.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sallyport::test {

// The CLI as built in this tree.
[[nodiscard]] std::string sallyport_binary();

// The directory of the misbehaving helper programs (tests/support/misbehave), fit for a trusted search path.
[[nodiscard]] std::filesystem::path misbehave_dir();

// The text of a policy file that admits exactly these tools.
[[nodiscard]] std::string policy_admitting(const std::vector<std::string_view>& tools);

}  // namespace sallyport::test
