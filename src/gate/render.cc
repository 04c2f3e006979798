// From a prepared call to what one kind of jail will start, and what that establishes.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <functional>

#include "core/errors.h"
#include "core/view/linux_jail.h"
#include "gate/engine.h"
#include "gate/jail_inputs.h"
#include "gate/tool_files.h"
#include "jails/bwrap/bwrap.h"
#include "jails/native/native.h"
#include "jails/none/none.h"
#include "os/memfd.h"
#include "os/openat2.h"
#include "spawn/owner/helper_image.h"

namespace sallyport {
namespace {

std::string home_of(const GateConfig& config) {
  for (const EnvVar& var : config.base_env) {
    if (var.name == "HOME") return var.value;
  }
  return {};
}

void drop_lost_guarantees(Rendered& rendered, const JailInputs& inputs) {
  for (const LostGuarantee& lost : inputs.lost) {
    std::erase_if(rendered.established, [&](const Established& e) { return e.guarantee == lost.guarantee; });
  }
  rendered.lost = inputs.lost;
}

void drop_doubtful_guarantees(Rendered& rendered, const Prepared& prepared) {
  const auto drop = [&rendered](Guarantee guarantee) {
    std::erase_if(rendered.established, [&](const Established& e) { return e.guarantee == guarantee; });
  };
  if (!prepared.git.weakness().empty()) drop(Guarantee::kFsGitProtected);
  if (!prepared.write_doubt.empty()) drop(Guarantee::kFsWriteConfined);
}

Result<UniqueFd> materialise(const bwrap::PassedFd& passed, const spawn::LaunchSpec& inner) {
  switch (passed.kind) {
    case bwrap::PassedFd::Kind::kPath:
      return open_exactly(passed.text, O_PATH);
    case bwrap::PassedFd::Kind::kFile:
      return open_exactly(passed.text, O_RDONLY | O_NOCTTY | O_NONBLOCK);
    case bwrap::PassedFd::Kind::kInit:
      return sealed_memfd("sallyport-init", spawn::helper_image());
    case bwrap::PassedFd::Kind::kInnerImage:
      return sealed_memfd("sallyport-launch", spawn::encode(inner));
    case bwrap::PassedFd::Kind::kBytes:
      break;
  }
  return sealed_memfd("sallyport-data", passed.text);
}

void add_resources(Rendered& rendered, Resources resources) {
  rendered.launch.limits = resources.rlimits;
  rendered.launch.cgroup_procs_fds = resources.procs_fds();
  rendered.established.insert(rendered.established.end(), resources.established.begin(), resources.established.end());
  rendered.resources = std::move(resources);
}

// Explaining makes nothing, so it can only say which limits would be asked for.
Result<Resources> resources_for(Purpose purpose, const Plan& plan, Confinement confinement) {
  if (purpose == Purpose::kRun) return acquire_resources(plan.limits, plan.required, confinement);
  Resources expected;
  expected.established = expected_limits(plan.limits);
  return expected;
}

}  // namespace

Result<Rendered> Engine::render_none(const Prepared& prepared, Purpose purpose) {
  const Plan& plan = prepared.plan;
  if (!plan.needs_jail.empty() && !plan.allow_unjailed) {
    return fail(invalid_request("jail", fmt::format("{} may not run without one: {}", plan.tool.name, plan.needs_jail),
                                "choose a jail, or say --allow-unjailed"));
  }
  if (plan.limits.disk) {
    return fail(guarantee_unavailable(Guarantee::kLimitDisk, "without a jail there is no scratch to bound",
                                      "choose a jail, or leave the disk limit out"));
  }
  if (!plan.allowed_hosts.empty()) {
    return fail(guarantee_unavailable(Guarantee::kNetEgressAllowlist, "without a jail every host can be reached",
                                      "choose a jail, or allow no host"));
  }
  Rendered rendered{.jail = none::kJailName,
                    .launch = none::render(
                        plan, {.exe_fd = prepared.tool.exe.get(), .cwd_fd = prepared.cwd.get(), .argv = prepared.argv}),
                    .established = none::establishes()};
  add_resources(rendered, TRY(resources_for(purpose, plan, Confinement::kNone)));
  return rendered;
}

Result<Rendered> Engine::render_native(const Prepared& prepared, Purpose purpose) {
  const Plan& plan = prepared.plan;
  const JailInputs inputs = TRY(jail_inputs(prepared, host(), home_of(config_)));
  Rendered rendered{.jail = native::kJailName,
                    .launch = native::render(
                        plan, {.argv = prepared.argv,
                               .exe = prepared.executed,
                               .view = inputs.view,
                               .identity_of = [&](const std::string& path) { return inputs.identity_of(path); }}),
                    .established = jail_establishes(plan),
                    .landlock_guards_all = writable_places_hold_nothing_protected(inputs.view)};
  rendered.launch.network = TRY(network_for(plan));
  drop_lost_guarantees(rendered, inputs);
  drop_doubtful_guarantees(rendered, prepared);
  rendered.launch.fail_at_for_tests = fault_;
  add_resources(rendered, TRY(resources_for(purpose, plan, Confinement::kJailed)));
  return rendered;
}

Result<Rendered> Engine::render_bwrap(const Prepared& prepared, Purpose purpose) {
  const Plan& plan = prepared.plan;
  PinnedTool wrapper =
      TRY(locate(*Allowlist::builtin().find("bwrap"), config_.search_path, plan.repo, hashes_for(purpose)));
  const JailInputs inputs = TRY(jail_inputs(prepared, host(), home_of(config_)));
  const bwrap::Inputs rendering{.argv = prepared.argv,
                                .exe = prepared.executed,
                                .view = inputs.view,
                                .identity_of = [&](const std::string& path) { return inputs.identity_of(path); }};
  Resources resources = TRY(resources_for(purpose, plan, Confinement::kWrapped));
  spawn::LaunchSpec inner = bwrap::render_inner(plan, rendering);
  // bwrap has the filter in force before our init runs, and it lets nobody change the limit on core files any more.
  const auto of_cores = [](const spawn::ResourceLimit& limit) { return limit.resource == RLIMIT_CORE; };
  inner.limits = resources.rlimits;
  std::erase_if(inner.limits, of_cores);
  inner.fail_at_for_tests = fault_;
  bwrap::Command command = bwrap::render(plan, rendering);
  Rendered rendered{.jail = bwrap::kJailName,
                    .established = jail_establishes(plan),
                    .landlock_guards_all = writable_places_hold_nothing_protected(inputs.view)};
  for (const bwrap::PassedFd& passed : command.passed) {
    rendered.kept_open.push_back(TRY(materialise(passed, inner)));
    rendered.launch.passed_fds.push_back(rendered.kept_open.back().get());
  }
  rendered.launch.argv = std::move(command.argv);
  rendered.launch.network = TRY(network_for(plan));
  rendered.launch.place =
      spawn::NoJailPlace{.exe_fd = wrapper.exe.get(), .cwd_fd = prepared.cwd.get(), .is_wrapper = true};
  rendered.kept_open.push_back(std::move(wrapper.exe));
  drop_lost_guarantees(rendered, inputs);
  drop_doubtful_guarantees(rendered, prepared);
  add_resources(rendered, std::move(resources));
  if (fault_ == spawn::wire::Stage::kNetwork) rendered.launch.fail_at_for_tests = fault_;  // made outside, not inside
  std::erase_if(rendered.launch.limits, std::not_fn(of_cores));  // the others are the tool's, set inside
  return rendered;
}

Result<Rendered> Engine::render(JailKind jail, const Prepared& prepared, Purpose purpose) {
  TRY(check_tool_files(prepared.plan, jail == JailKind::kNone ? Confinement::kNone : Confinement::kJailed));
  switch (jail) {
    case JailKind::kNone:
      return render_none(prepared, purpose);
    case JailKind::kBwrap:
      return render_bwrap(prepared, purpose);
    case JailKind::kAuto:  // chosen before
    case JailKind::kNative:
      break;
  }
  return render_native(prepared, purpose);
}

}  // namespace sallyport
