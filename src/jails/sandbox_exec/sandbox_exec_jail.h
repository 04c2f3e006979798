// The macOS jail (C21, C40): sandbox-exec applies our profile, and our init inside it starts the tool. Written from
// Apple's documents and published profiles; not yet run on a Mac. docs/jails.md says what it gives.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "core/policy/never_given.h"
#include "sallyport/jail_port.h"

namespace sallyport::sandbox_exec {

struct Options {
  // Never one from a search path.
  std::string launcher = "/usr/bin/sandbox-exec";
  std::string init = "/usr/local/libexec/sallyport/sallyport-posix-init";
  std::string scratch_root = "/private/tmp";  // where each run gets its private directory; canonical
  // Tests only: a program that checks the profile replaces the launcher, so nothing is confined.
  bool stand_in_for_tests = false;
};

class SandboxExecJail final : public Jail {
 public:
  explicit SandboxExecJail(Options options = {}) : options_(std::move(options)) {}

  [[nodiscard]] std::string_view name() const override { return JailKind::kSandboxExec.name(); }
  // No limit of time and no end with the owner: a process can leave its group, and we know no other means to end it.
  [[nodiscard]] std::span<const Guarantee> never_gives() const override { return kNeverGivenBy<Givers::kSandboxExec>; }
  [[nodiscard]] Status usable() override;
  [[nodiscard]] Result<std::unique_ptr<StagedRun>> stage(const StageRequest& request) override;

 private:
  const Options options_;
  std::once_flag swept_;
};

}  // namespace sallyport::sandbox_exec
