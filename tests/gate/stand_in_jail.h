// The macOS jail on Linux, with a program that checks the profile in the place of sandbox-exec: everything of it but the confining.
#pragma once

#include <filesystem>

#include "jails/sandbox_exec/sandbox_exec_jail.h"
#include "sallyport/jail_port.h"

namespace sallyport::test {

inline constexpr JailKind kStandIn{"stand_in"};

// Of the stand-in for sandbox-exec and of our init (tests/posix), canonical.
[[nodiscard]] inline std::filesystem::path stand_in_dir() {
  return std::filesystem::canonical(SALLYPORT_TEST_POSIX_DIR);
}

class StandInJail final : public Jail {
 public:
  explicit StandInJail(const std::filesystem::path& scratch_root = "/tmp")
      : jail_({.launcher = stand_in_dir() / "sandbox-exec",
               .init = stand_in_dir() / "sallyport-posix-init",
               .scratch_root = scratch_root,
               .stand_in_for_tests = true}) {}

  // The name of the real one is taken.
  [[nodiscard]] std::string_view name() const override { return kStandIn.name(); }
  [[nodiscard]] std::span<const Guarantee> never_gives() const override { return jail_.never_gives(); }
  [[nodiscard]] Result<std::unique_ptr<StagedRun>> stage(const StageRequest& request) override {
    return jail_.stage(request);
  }

 private:
  sandbox_exec::SandboxExecJail jail_;
};

}  // namespace sallyport::test
