// What main() took from the outside world, and what follows from it. Everything below main() gets this value, and reads no
// environment variable but through its `variable`. docs/cli.md lists them all.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sallyport/gate.h"
#include "sallyport/plan.h"

namespace sallyport::cli {

struct Environment {
  std::optional<std::string> path{};
  std::optional<std::string> home{};
  std::optional<std::string> lang{};
  std::optional<std::string> lc_all{};
  std::optional<std::string> xdg_cache_home{};
  std::optional<std::string> xdg_state_home{};
  std::optional<std::string> sudo_uid{};
  std::optional<std::string> proxy{};  // the operator's proxy, used with --via-proxy env
  std::optional<std::string> no_proxy{};
  // Reads any other variable, for an operator's file that names one (.npmrc, --registry-auth).
  std::function<std::optional<std::string>(const std::string&)> variable{};
  bool in_build_log = false;                  // a build service reads commands from our output (log_commands.h)
  std::filesystem::path current_directory{};  // empty when unknown (removed under us)
};

// See core/policy/base_variables.h.
[[nodiscard]] GateConfig gate_config(const Environment& environment, std::filesystem::path repo);
[[nodiscard]] std::vector<std::filesystem::path> search_path(const Environment& environment);
[[nodiscard]] std::filesystem::path cache_dir(const Environment& environment);
// Where workspaces live; empty when the environment names no place.
[[nodiscard]] std::filesystem::path workspace_dir(const Environment& environment);

}  // namespace sallyport::cli
