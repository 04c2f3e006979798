// The built program with hosts allowed, run by root or by a plain user in either jail.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sallyport/plan.h"
#include "support/program.h"
#include "support/temp_dir.h"

namespace sallyport::test {

using Words = std::vector<std::string>;

enum class Who { kRoot, kUser };
struct Where {
  JailKind jail;
  Who who;
};
[[nodiscard]] std::string name_of(const Where& where);
// Both jails, for root and for a plain user.
[[nodiscard]] std::vector<Where> everywhere();

// A repo, a home and a policy that admits the clients; gone with the object.
class Site {
 public:
  explicit Site(Who who);

  [[nodiscard]] const std::filesystem::path& repo() const { return repo_; }
  [[nodiscard]] const std::optional<PlainUser>& user() const { return user_; }
  [[nodiscard]] const TempDir& dir() const { return dir_; }
  void put(const std::string& name, std::string_view content) const;  // into the repo, as its owner's

  // sallyport run --json OPTIONS -- TOOL, with no variable that names a proxy.
  [[nodiscard]] Program start(JailKind jail, const Words& options, const Words& tool, bool json = true) const;
  [[nodiscard]] nlohmann::json run(JailKind jail, const Words& options, const Words& tool) const;

 private:
  std::optional<PlainUser> user_;
  TempDir dir_;
  std::filesystem::path repo_;
  std::string program_;
};

// The run ended well and said `expected`; nothing was refused.
void expect_reached(const nlohmann::json& record, std::string_view expected);
// The verdict and the first denial name this host.
void expect_denied(const nlohmann::json& record, std::string_view host, std::string_view reason);

}  // namespace sallyport::test
