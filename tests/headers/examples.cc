// What surrounds the example of each public header: the names it uses, and nothing else. Compiled, never run.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include "sallyport/adapters.h"
#include "sallyport/audit.h"
#include "sallyport/container.h"
#include "sallyport/denial.h"
#include "sallyport/egress.h"
#include "sallyport/error.h"
#include "sallyport/external_cli.h"
#include "sallyport/gate.h"
#include "sallyport/jail.h"
#include "sallyport/jail_port.h"
#include "sallyport/microvm.h"
#include "sallyport/oci.h"
#include "sallyport/outcome.h"
#include "sallyport/registry_allowlist.h"
#include "sallyport/result.h"
#include "sallyport/sandboxed_path.h"
#include "sallyport/workspace.h"

namespace sallyport::test {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

#include "result.inc"

class MyJail final : public Jail {
 public:
  std::string_view name() const override { return "mine"; }
  Result<std::unique_ptr<StagedRun>> stage(const StageRequest&) override { return fail({}); }
};

void adapters(Gate* gate, bool prefers_mine) {
#include "adapters.inc"
}

Status audit() {
#include "audit.inc"
  return {};
}

Status container(const fs::path& repo, const JailedSubprocessSpec& spec) {
#include "container.inc"
  return {};
}

void denial(const JailedSubprocessResult& result) {
#include "denial.inc"
}

void egress() {
#include "egress.inc"
}

void error(const Error& error) {
#include "error.inc"
}

Status external_cli(Gate* gate, const fs::path& repo) {
#include "external_cli.inc"
  return {};
}

Status gate() {
#include "gate.inc"
  return {};
}

void jail(SubprocessJail& jail, const fs::path& repo) {
#include "jail.inc"
}

Status jail_port(const fs::path& repo) {
#include "jail_port.inc"
  return {};
}

Status microvm(Gate* gate, const JailedSubprocessSpec& spec) {
#include "microvm.inc"
  return {};
}

Status oci(Gate* gate, const JailedSubprocessSpec& spec) {
#include "oci.inc"
  return {};
}

void outcome(const JailedSubprocessResult& result) {
#include "outcome.inc"
}

Status registry_allowlist(const GateConfig& config, JailedSubprocessSpec& spec) {
#include "registry_allowlist.inc"
  return {};
}

Status sandboxed_path() {
#include "sandboxed_path.inc"
  return {};
}

Status workspace(SubprocessJail& jail, const fs::path& repo, const fs::path& state) {
#include "workspace.inc"
  return {};
}

}  // namespace sallyport::test
