// The container jail's command line and what our init inside does, as pure functions of the plan and the view (C15, C28).
//
// The engine gets a hardened `run` of an image's digest: no network, no capabilities, no new privileges, and write
// access only to tmpfs and what the plan opens. Our own init is its entry point, takes the last locks itself, and sends
// and receives frames over the client's stdio (ADR 0100).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/view/fs_view.h"
#include "core/view/host_view.h"
#include "sallyport/container.h"
#include "sallyport/plan.h"
#include "sallyport/receipt.h"
#include "spawn/wire/launch_spec.h"
#include "spawn/wire/root_ops.h"

namespace sallyport::container {

[[nodiscard]] std::string_view program_of(ContainerEngine engine);

struct Inputs {
  ContainerEngine engine = ContainerEngine::kPodman;
  std::vector<std::string> engine_arguments{};
  std::string image{};              // its digest
  std::string name{};               // the container's name
  std::string init{};               // host path of the program at spawn::kInitPath
  std::string resolver{};           // host path of the resolv.conf that names our init as the resolver
  std::vector<std::string> argv{};  // the tool's
  // The tool: the host's file to execute, or the places where the image may have it.
  std::optional<BinaryIdentity> exe{};
  std::vector<std::string> exe_places{};
  std::string path{};  // the PATH of the tool; empty: the plan's own
  std::vector<ViewEntry> view{};
  spawn::IdentityOf identity_of{};
  UserIds user{};  // inside
  std::uint64_t open_files =
      0;  // the caller's own hard limits, which an engine of the caller cannot exceed; 0: none given
  std::uint64_t processes = 0;
};

// Refuses what such a command line cannot express, or such a container cannot show.
[[nodiscard]] Status check(const Plan& plan, const std::vector<ViewEntry>& view);

// The caller's part of a view only: the system comes from the image.
[[nodiscard]] std::vector<ViewEntry> callers_part(const std::vector<ViewEntry>& view);

[[nodiscard]] std::vector<std::string> render_command(const Plan& plan, const Inputs& inputs);
// Without the network.
[[nodiscard]] spawn::LaunchSpec render_inner(const Plan& plan, const Inputs& inputs);

// The plan's, with HOME and PATH as the tool gets them.
[[nodiscard]] std::vector<EnvVar> environment(const Plan& plan, const Inputs& inputs);

[[nodiscard]] std::vector<Established> establishes(const Plan& plan, const Inputs& inputs,
                                                   const std::optional<RunFacts>& facts);

}  // namespace sallyport::container
