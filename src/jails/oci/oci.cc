#include "jails/oci/oci.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "core/errors.h"
#include "core/json/json.h"
#include "core/view/linux_jail.h"
#include "core/view/paths.h"
#include "spawn/wire/wrapped.h"

namespace sallyport::oci {
namespace {

// Two places cannot share one tmpfs here, so /dev/shm and /var/tmp get a sixteenth of the disk quota each: together all
// places never exceed the quota.
constexpr std::uint64_t kShare = 16;
constexpr std::uint64_t kSharing = 2;
constexpr std::uint64_t kSmallestTmpfs = 4096;

ByteCount quota_of(const Plan& plan) { return plan.limits.disk.value_or(kDefaultDiskQuota); }

Json mount(const std::string& target, std::string_view type, const std::string& source,
           std::vector<std::string> options) {
  return {{"destination", target}, {"type", type}, {"source", source}, {"options", std::move(options)}};
}

// Includes the mounts below it: "ro" alone would leave those writable (runc 1.1, "rro"). gVisor has no such options,
// and does not show the mounts below.
Json bind(const ViewEntry& entry, Runtime runtime) {
  const char* const recursive = runtime == Runtime::kRunc ? "r" : "";
  std::vector<std::string> options = {"rbind", fmt::format("{}nosuid", recursive), fmt::format("{}nodev", recursive)};
  if (entry.access == RepoAccess::kReadOnly) options.push_back(fmt::format("{}ro", recursive));
  if (entry.no_exec) options.push_back(fmt::format("{}noexec", recursive));
  return mount(entry.target, "bind", entry.source, std::move(options));
}

Json tmpfs(const std::string& target, std::uint64_t size, std::uint64_t files) {
  return mount(target, "tmpfs", "tmpfs",
               {"nosuid", "nodev", "mode=1777", fmt::format("size={}", size), fmt::format("nr_inodes={}", files)});
}

class ConfigBuilder {
 public:
  ConfigBuilder(const Plan& plan, Runtime runtime) : quota_(quota_of(plan)), runtime_(runtime) {}

  void add(const ViewEntry& entry) {
    switch (entry.kind) {
      case ViewKind::kBind:
        mounts_.push_back(bind(entry, runtime_));
        return;
      case ViewKind::kProc:
        mounts_.push_back(mount(entry.target, "proc", "proc", {"nosuid", "nodev", "noexec", "ro"}));
        return;
      case ViewKind::kDevpts:
        if (runtime_ == Runtime::kRunsc) return;  // always has a /dev of its own
        // The runtime makes the usual nodes and links in a /dev of its own, and makes that read-only at the end.
        mounts_.push_back(mount("/dev", "tmpfs", "tmpfs", {"nosuid", "noexec", "mode=755", "size=65536", "ro"}));
        mounts_.push_back(
            mount(entry.target, "devpts", "devpts", {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"}));
        return;
      case ViewKind::kMqueue:
        if (runtime_ == Runtime::kRunsc) return;
        mounts_.push_back(mount(entry.target, "mqueue", "mqueue", {"nosuid", "nodev", "noexec"}));
        return;
      case ViewKind::kScratch:
        mounts_.push_back(
            tmpfs(entry.target, count(quota_) - kSharing * (count(quota_) / kShare), scratch_files(quota_)));
        return;
      case ViewKind::kShared:
        mounts_.push_back(tmpfs(entry.target, std::max(count(quota_) / kShare, kSmallestTmpfs), scratch_files(quota_)));
        return;
      case ViewKind::kMask:
        masked_.push_back(entry.target);
        return;
      case ViewKind::kDirectory:  // these are in the root directory, or our init makes them
      case ViewKind::kSymlink:
      case ViewKind::kFile:
      case ViewKind::kCopy:
      case ViewKind::kDevice:
      case ViewKind::kOverlay:  // the gate asks for none: see OciJail::layers()
      case ViewKind::kAlias:
        return;
    }
  }

  [[nodiscard]] const Json& mounts() const { return mounts_; }
  [[nodiscard]] const Json& masked() const { return masked_; }

 private:
  const ByteCount quota_;
  const Runtime runtime_;
  Json mounts_ = Json::array();
  Json masked_ = Json::array();
};

Json id_map(std::uint32_t outside) { return Json::array({{{"containerID", 0}, {"hostID", outside}, {"size", 1}}}); }

// The descriptor after the tool's streams and cgroups.
std::uint32_t image_fd(const Inputs& inputs) {
  return std::uint32_t{spawn::wire::kFirstRuntimeFd} + 3 + inputs.cgroup_count;
}

std::string init_argument(const Inputs& inputs) {
  using spawn::wire::HelperKind;
  if (inputs.runtime == Runtime::kRunsc) return spawn::init_argument({.kind = HelperKind::kFramed});
  return spawn::init_argument({.kind = HelperKind::kWrapped, .image_fd = image_fd(inputs)});
}

Json linux_part(const Inputs& inputs, const Json& masked) {
  Json namespaces = Json::array();
  if (inputs.runtime == Runtime::kRunsc) {
    for (const char* type : {"mount", "pid", "ipc", "uts", "network"}) namespaces.push_back({{"type", type}});
    return {{"namespaces", std::move(namespaces)}};
  }
  // No network namespace: the runtime's own is used, which our worker made and where only the egress sockets answer.
  for (const char* type : {"user", "mount", "pid", "ipc", "uts", "cgroup"}) namespaces.push_back({{"type", type}});
  return {{"namespaces", std::move(namespaces)},
          {"uidMappings", id_map(inputs.outside.uid)},
          {"gidMappings", id_map(inputs.outside.gid)},
          {"rootfsPropagation", "private"},
          {"maskedPaths", masked}};
}

bool is_in_scratch(const ViewEntry& entry, std::span<const ViewEntry> view) {
  return std::ranges::any_of(view, [&](const ViewEntry& other) {
    return other.kind == ViewKind::kScratch && entry.target != other.target && is_inside(entry.target, other.target);
  });
}

bool is_mount_of_scratch(const std::string& target, std::span<const ViewEntry> view) {
  return std::ranges::any_of(view, [&](const ViewEntry& other) {
    return other.target == target && (other.kind == ViewKind::kScratch || other.kind == ViewKind::kShared);
  });
}

bool is_made(const ViewEntry& entry) {
  return entry.kind == ViewKind::kDirectory || entry.kind == ViewKind::kSymlink || entry.kind == ViewKind::kFile ||
         entry.kind == ViewKind::kCopy;
}

// Makes an entry on the scratch tmpfs, which the runtime mounts empty. gVisor has no openat2(2), so it goes by name
// there: no other process runs inside yet.
spawn::RootOp in_scratch(const ViewEntry& entry, Runtime runtime) {
  using spawn::wire::OpKind;
  const OpKind kind = entry.kind == ViewKind::kSymlink ? OpKind::kSymlink : OpKind::kDirectory;
  return {.kind = kind,
          .target = entry.target.substr(1),
          .source = entry.source,
          .flags = runtime == Runtime::kRunc ? std::uint32_t{spawn::wire::kOpBeneath} : 0U,
          .mode = entry.mode};
}

bool is_json_text(const std::string& text) { return json_text(text).is_string(); }

}  // namespace

Status check_names(const std::vector<ViewEntry>& view) {
  for (const ViewEntry& entry : view) {
    const bool named = entry.kind == ViewKind::kBind || entry.kind == ViewKind::kMask;
    if (!named || (is_json_text(entry.target) && is_json_text(entry.source))) continue;
    return fail(invalid_request("path", fmt::format("{} is not UTF-8, and a bundle cannot name it", entry.target),
                                "rename it, or use another jail"));
  }
  return {};
}

std::string render_config(const Plan& plan, const Inputs& inputs) {
  ConfigBuilder view(plan, inputs.runtime);
  for (const ViewEntry& entry : inputs.view) view.add(entry);
  const Json none = Json::array();
  // To map a user namespace's root into a namespace below it, a process must hold this capability (Linux 5.12,
  // user_namespaces(7)). Our init loses it when it leaves that namespace.
  const Json held = inputs.runtime == Runtime::kRunc ? Json::array({"CAP_SETFCAP"}) : none;
  Json config = {
      {"ociVersion", "1.0.2"},
      {"process",
       {{"terminal", false},
        {"user", {{"uid", 0}, {"gid", 0}, {"umask", inputs.umask}}},
        {"args", {spawn::kInitPath, init_argument(inputs)}},
        {"env", none},
        {"cwd", "/"},
        {"capabilities",
         {{"bounding", held}, {"effective", held}, {"inheritable", none}, {"permitted", held}, {"ambient", none}}},
        {"noNewPrivileges", true}}},
      {"root", {{"path", "rootfs"}, {"readonly", true}}},
      {"hostname", "sallyport"},
      {"mounts", view.mounts()},
      {"linux", linux_part(inputs, view.masked())}};
  return config.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<ViewEntry> render_root(const std::vector<ViewEntry>& view) {
  std::vector<ViewEntry> made;
  for (const ViewEntry& entry : view) {
    if (!is_made(entry) || entry.target.starts_with("/dev/") || is_in_scratch(entry, view)) continue;
    made.push_back(entry);
    // The runtime gives a tmpfs the mode of the directory that it covers.
    if (is_mount_of_scratch(entry.target, view)) made.back().mode = 01777;
  }
  return made;
}

std::vector<std::string> render_command(const Inputs& inputs, const std::string& directory) {
  if (inputs.runtime == Runtime::kRunsc) {
    // The id names an abstract socket, so two runs must not share an id. Rootless also for root: it starts in a user
    // namespace.
    const std::string id = directory.substr(directory.rfind('/') + 1);
    return {"runsc",
            "--root",
            directory + "/state",
            "--rootless",
            "--network=none",
            "--platform=ptrace",
            "--ignore-cgroups",
            "run",
            "--bundle",
            directory + "/bundle",
            id};
  }
  const std::uint32_t of_worker = 3;  // see wire::kInRuntime
  const std::uint32_t preserved = image_fd(inputs) - spawn::wire::kFirstRuntimeFd + 1 + of_worker;
  // Rootless: it makes no cgroups of its own, not even for root. Its log would go to the tool's stderr; fatal errors go
  // there anyway.
  return {"runc",
          "--rootless",
          "true",
          "--log",
          "/dev/null",
          "--root",
          directory + "/state",
          "run",
          "--bundle",
          directory + "/bundle",
          "--preserve-fds",
          std::to_string(preserved),
          "sallyport"};
}

spawn::LaunchSpec render_inner(const Plan& plan, const Inputs& inputs) {
  spawn::JailPlace place = spawn::wrapped_place(plan);
  place.in_runtime = inputs.runtime == Runtime::kRunc;
  place.exe = inputs.exe;
  if (inputs.runtime == Runtime::kRunsc) place.exe = {.path = inputs.exe.path};  // its files have other inode numbers
  place.landlock_writable = writable_places(inputs.view);
  place.landlock_writable.emplace_back("/var/tmp");  // /tmp is another here
  for (const ViewEntry& entry : inputs.view) {
    if (is_made(entry) && is_in_scratch(entry, inputs.view))
      place.root_ops.push_back(in_scratch(entry, inputs.runtime));
    if (inputs.runtime == Runtime::kRunc) spawn::add_identity_check(entry, inputs.identity_of, place.root_ops);
  }
  spawn::LaunchSpec spec;
  spec.argv = inputs.argv;
  spec.env = env_texts(jail_env(plan));
  spec.place = std::move(place);
  return spec;
}

}  // namespace sallyport::oci
