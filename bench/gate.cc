#include "bench/gate.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cstdlib>
#include <utility>

namespace sallyport::bench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "bench: {}\n", why);
  std::exit(1);
}

}  // namespace

std::string policy_for(const std::vector<std::string>& tools) {
  std::string text = "schema = \"sallyport.policy/1\"\n";
  for (const std::string& tool : tools) {
    text += fmt::format("[[tool]]\nname = \"{}\"\ndecision_record = \"bench\"\nreason = \"is measured\"\n", tool);
  }
  return text;
}

std::unique_ptr<Gate> open_gate(const GateWishes& wishes) {
  Result<Allowlist> allowlist = Allowlist::from_policy(wishes.policy, "bench");
  if (!allowlist) give_up(allowlist.error().message);
  GateConfig config{.repo = wishes.repo,
                    .allowlist = *std::move(allowlist),
                    .search_path = {"/usr/bin", "/bin"},
                    .base_env = {{"PATH", "/usr/bin:/bin"}},
                    .warm_jails = wishes.warm_jails};
  if (!wishes.more_tools.empty()) config.search_path.insert(config.search_path.begin(), wishes.more_tools);
  Result<std::unique_ptr<Gate>> gate = Gate::open(std::move(config));
  if (!gate) give_up(gate.error().message);
  return *std::move(gate);
}

TempDir::TempDir() {
  std::string name = (fs::temp_directory_path() / "sallyport-bench-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) give_up("no temporary directory can be made");
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code error;
  fs::remove_all(path_, error);
  if (error) fmt::print(stderr, "bench: {} is left: {}\n", path_.string(), error.message());
}

}  // namespace sallyport::bench
