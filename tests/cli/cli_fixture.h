// A place of its own for each test of the built program: a repo, a home, a policy that admits the misbehaving helpers.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "support/installed.h"
#include "support/processes.h"
#include "support/program.h"
#include "support/temp_dir.h"

namespace sallyport::test {

using Words = std::vector<std::string>;

class CliTest : public testing::Test {
 protected:
  CliTest();

  // The program with these arguments, started in the repo. What it prints holds no name of the API that was not typed (ADR 0072).
  [[nodiscard]] ProgramResult sallyport(const Words& args, ProgramOptions options = {}) const;
  [[nodiscard]] Program start_sallyport(const Words& args, ProgramOptions options = {}) const;
  // `run` of a helper without a jail, for tests in which the jail is not the point.
  [[nodiscard]] ProgramResult run_helper(const Words& tool, const Words& options = {}, ProgramOptions how = {}) const;
  [[nodiscard]] Words helper_command(const Words& tool, const Words& options = {}) const;

  // Every path below the fixture's directory, with its size: equal before and after means that nothing was written.
  [[nodiscard]] std::map<std::string, std::uintmax_t> everything() const;

  TempDir dir_;
  std::filesystem::path repo_;
  std::filesystem::path policy_;
  Environment environment_;
};

// The one record on stdout; fails the test unless stdout is exactly one line of JSON.
[[nodiscard]] nlohmann::json record_of(const ProgramResult& result);

// The first `name` in backticks, which is how the library names its API; empty: there is none.
[[nodiscard]] std::string api_name_in(std::string_view text);

// "sallyport: error: …" and "hint: …", nothing on stdout.
void expect_error_with_hint(const ProgramResult& result);

}  // namespace sallyport::test
