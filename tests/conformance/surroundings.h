// Where the conformance tests take place, as root and as a plain user.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "attack/runner.h"
#include "sallyport/gate.h"
#include "sallyport/oci.h"
#include "support/plain_user.h"
#include "support/temp_dir.h"

namespace sallyport::conformance {

enum class Who { kRoot, kUser };

// A gate over `repo` that admits exactly `tools`, found in `places`.
[[nodiscard]] GateConfig config_admitting(const std::filesystem::path& repo, const std::vector<std::string_view>& tools,
                                          std::vector<std::filesystem::path> places);

[[nodiscard]] std::filesystem::path attack_program();

// A home of its own outside /tmp, and copies of the programs where that user can read them. Gone with the object.
class Stage {
 public:
  explicit Stage(Who who);
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage();

  [[nodiscard]] attack::Surroundings surroundings() const;
  // As that user, in a child: what the attack came to.
  [[nodiscard]] attack::Finding perform(const attack::Case& one, JailKind jail) const;
  [[nodiscard]] std::vector<attack::Finding> perform(const attack::Case& one, std::span<const JailKind> jails) const;

 private:
  std::optional<test::PlainUser> user_;
  test::TempDir programs_;
  std::filesystem::path home_;
};

}  // namespace sallyport::conformance
