#include "golden/renderings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/policy/make_plan.h"
#include "core/seccomp/program.h"
#include "core/view/fs_view.h"
#include "core/view/linux_jail.h"

namespace sallyport::golden {
namespace {

using namespace std::chrono_literals;

// Debian 12, less what only makes the files longer.
HostLayout host() {
  return {.system_directories = {"/usr", "/opt"},
          .system_links = {{"/bin", "usr/bin"}, {"/lib", "usr/lib"}, {"/lib64", "usr/lib64"}},
          .etc = {{"/etc/alternatives", true}, {"/etc/ld.so.cache", false}},
          .etc_links = {{"/etc/localtime", "/usr/share/zoneinfo/Etc/UTC"}},
          .etc_files = {"/etc/timezone"},
          .proc_masks = {{"/proc/keys", false}, {"/proc/kcore", false}}};
}

std::vector<HostPath> host_paths(const std::vector<std::filesystem::path>& paths) {
  std::vector<HostPath> found;
  for (const std::filesystem::path& path : paths) found.push_back({path, path.extension() != ".file"});
  return found;
}

std::vector<ViewEntry> view_of(const Plan& plan, const std::string& tool_path) {
  ViewInputs inputs{.repo = plan.repo,
                    .repo_access = plan.repo_access,
                    .read_only = host_paths(plan.extra_read_only),
                    .read_write = host_paths(plan.extra_read_write),
                    .disk = plan.limits.disk.value_or(kDefaultDiskQuota)};
  if (!tool_path.starts_with("/usr/")) inputs.tool_files.push_back({tool_path, false});
  return file_system_view(inputs, HostRoot(host())).value();
}

std::string escaped(const std::string& text) { return nlohmann::json(text).dump(); }

std::string descriptor_text(const bwrap::PassedFd& passed) {
  switch (passed.kind) {
    case bwrap::PassedFd::Kind::kPath:
      return "path " + passed.text;
    case bwrap::PassedFd::Kind::kFile:
      return "file " + passed.text;
    case bwrap::PassedFd::Kind::kInit:
      return "init";
    case bwrap::PassedFd::Kind::kInnerImage:
      return "launch image";
    case bwrap::PassedFd::Kind::kBytes:
      break;
  }
  // Its bytes are libseccomp's choice, and differ from version to version.
  return passed.text == seccomp::program() ? "seccomp program" : "bytes " + escaped(passed.text);
}

// The places, what the plan is refused for, and the environment.
Lines landlock_text(const Plan& plan, const std::vector<ViewEntry>& view,
                    const std::function<std::optional<FileIdentity>(const std::string&)>& identity_of) {
  const std::string private_dir = "/tmp/sallyport-private";
  Lines lines;
  for (const Status& checked : {landlock::check_plan(plan), landlock::check_view(plan, view)}) {
    if (!checked) lines.push_back("refused: " + checked.error().message);
  }
  for (const landlock::Place& place :
       landlock::render_places({.view = view, .identity_of = identity_of, .private_dir = private_dir})) {
    lines.push_back(landlock::describe(place));
  }
  for (const std::string& variable : env_texts(landlock::environment(plan, private_dir))) {
    lines.push_back("env      " + variable);
  }
  return lines;
}

std::string root_line(const ViewEntry& entry) {
  switch (entry.kind) {
    case ViewKind::kSymlink:
      return "link     " + entry.target + " -> " + entry.source;
    case ViewKind::kFile:
      return fmt::format("file     {:04o} {} {}", entry.mode, entry.target, escaped(entry.content));
    case ViewKind::kCopy:
      return fmt::format("copy     {:04o} {} of {}", entry.mode, entry.target, entry.source);
    default:
      return fmt::format("dir      {:04o} {}", entry.mode, entry.target);
  }
}

Lines oci_text(const Plan& plan, const oci::Inputs& inputs) {
  Lines lines = oci::render_command(inputs, "/tmp/sallyport-private");
  std::istringstream config(oci::render_config(plan, inputs));
  for (std::string line; std::getline(config, line);) lines.push_back(line);
  for (const ViewEntry& entry : oci::render_root(inputs.view)) lines.push_back(root_line(entry));
  return lines;
}

container::Inputs container_of(const Plan& plan, const std::vector<ViewEntry>& view, ContainerEngine engine) {
  return {.engine = engine,
          .engine_arguments = {"--engines-own"},
          .image = "sha256:0123",
          .name = "sallyport-private",
          .init = "/tmp/sallyport-private/init",
          .resolver = "/tmp/sallyport-private/resolv.conf",
          .argv = plan.argv,
          .exe_places = {"/usr/bin/jq", "/bin/jq"},
          .path = "/usr/bin:/bin",
          .view = container::callers_part(view),
          .user = {.uid = 1234, .gid = 5678},
          .open_files = 1024,
          .processes = 512};
}

// Where it refuses the plan, why.
Lines container_text(const Plan& plan, const container::Inputs& inputs) {
  const Status checked = container::check(plan, inputs.view);
  return checked ? container::render_command(plan, inputs) : Lines{"refused: " + checked.error().message};
}

}  // namespace

Scene plain_scene() {
  return {.spec = {.argv = {"jq", ".name"}, .repo = "/src/theirs", .cwd = "/src/theirs/sub", .limits = {.wall = 60s}}};
}

Rendering render(const Scene& scene) {
  const JailedSubprocessSpec& spec = scene.spec;
  const std::vector<EnvVar> base_env = {{"PATH", "/usr/bin"}, {"HOME", "/home/user"}, {"LANG", "C.UTF-8"}};
  const AdmittedCall call = admit(Allowlist::builtin(), spec, base_env).value();
  const Plan plan = make_plan(call, spec,
                              {.repo = spec.repo,
                               .cwd = spec.cwd,
                               .extra_read_only = spec.extra_read_only,
                               .extra_read_write = spec.extra_read_write},
                              "/usr/bin")
                        .value();
  const std::vector<ViewEntry> view = view_of(plan, scene.tool_path);
  const BinaryIdentity exe{.path = scene.tool_path, .device = 1, .inode = 2, .size = 3, .mtime_ns = 4};
  const auto identity_of = [](const std::string& path) -> std::optional<FileIdentity> {
    // Like the gate: it compares only what a user can swap.
    if (path.starts_with("/usr") || path.starts_with("/opt") || path.starts_with("/etc")) return std::nullopt;
    return FileIdentity{.device = 1, .inode = 5};
  };
  const bwrap::Inputs inputs{.argv = plan.argv, .exe = exe, .view = view, .identity_of = identity_of};
  const oci::Inputs bundle{.argv = plan.argv,
                           .exe = exe,
                           .view = view,
                           .identity_of = identity_of,
                           .outside = {.uid = 1234, .gid = 5678},
                           .cgroup_count = plan.limits.memory ? 2U : 0U};
  oci::Inputs for_gvisor = bundle;
  for_gvisor.runtime = oci::Runtime::kRunsc;
  for_gvisor.cgroup_count = 0;
  const container::Inputs podman = container_of(plan, view, ContainerEngine::kPodman);
  return {.bwrap = bwrap::render(plan, inputs),
          .bwrap_inner = bwrap::render_inner(plan, inputs),
          .native = native::render(plan, {.argv = plan.argv, .exe = exe, .view = view, .identity_of = identity_of}),
          .landlock = landlock_text(plan, view, identity_of),
          .oci = oci_text(plan, bundle),
          .gvisor = oci_text(plan, for_gvisor),
          .oci_inner = oci::render_inner(plan, bundle),
          .podman = container_text(plan, podman),
          .docker = container_text(plan, container_of(plan, view, ContainerEngine::kDocker)),
          .container_inner = container::render_inner(plan, podman),
          .sandbox = sandbox_exec::render({.view = view,
                                           .private_dir = "/private/tmp/sallyport-private",
                                           .init = "/usr/local/libexec/sallyport/sallyport-posix-init",
                                           .executable = scene.tool_path})};
}

namespace {

// The jail's own place for the repo by its name: what it is called is checked in renderings_test.cc.
Lines with_work_named(Lines lines) {
  const std::string inside = std::string(kJailRepo) + "/";
  for (std::string& line : lines) {
    for (std::size_t at = 0; (at = line.find(inside, at)) != std::string::npos;)
      line.replace(at, inside.size(), "{work}/");
  }
  return lines;
}

}  // namespace

Lines argv_text(const bwrap::Command& command) { return with_work_named(command.argv); }

Lines descriptors_text(const bwrap::Command& command) {
  Lines lines;
  int number = spawn::wire::kFirstPassedFd;
  for (const bwrap::PassedFd& passed : command.passed) {
    lines.push_back(std::to_string(number++) + " " + descriptor_text(passed));
  }
  return with_work_named(std::move(lines));
}

Lines places_text(const Rendering& rendering) { return with_work_named(rendering.landlock); }

Lines bundle_text(const Lines& bundle) { return with_work_named(bundle); }

Lines profile_text(const sandbox_exec::Profile& profile) {
  Lines lines;
  std::istringstream text(profile.text);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  for (const auto& [name, value] : profile.parameters) lines.push_back("-D " + name + "=" + value);
  return with_work_named(std::move(lines));
}

Lines launch_text(const spawn::LaunchSpec& launch) {
  const auto& jail = std::get<spawn::JailPlace>(launch.place);
  Lines lines;
  for (const spawn::RootOp& op : jail.root_ops) {
    lines.push_back(spawn::describe(op) + (op.identity ? " (compared)" : ""));
  }
  for (const std::string& place : jail.landlock_writable) lines.push_back("landlock " + place);
  lines.push_back("cwd      " + jail.cwd);
  lines.push_back("exe      " + jail.exe.path);
  for (const std::string& variable : launch.env) lines.push_back("env      " + variable);
  for (const std::string& word : launch.argv) lines.push_back("argv     " + escaped(word));
  return with_work_named(std::move(lines));
}

}  // namespace sallyport::golden
