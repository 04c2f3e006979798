#include "jails/bwrap/bwrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "core/view/linux_jail.h"
#include "spawn/wire/wrapped.h"

namespace sallyport::bwrap {
namespace {

// bwrap cannot let two places share one tmpfs, so /dev/shm and /var/tmp get a sixteenth of the disk quota each:
// together all places never exceed the quota.
constexpr std::uint64_t kShare = 16;
constexpr std::uint64_t kSharing = 2;
constexpr const char* kSharesNetwork = "--share-net";

class CommandBuilder {
 public:
  void option(std::vector<std::string> words) {
    command_.argv.insert(command_.argv.end(), std::make_move_iterator(words.begin()),
                         std::make_move_iterator(words.end()));
  }

  [[nodiscard]] std::size_t size() const { return command_.argv.size(); }

  std::string pass(PassedFd fd) {
    command_.passed.push_back(std::move(fd));
    return std::to_string(spawn::wire::kFirstPassedFd + static_cast<int>(command_.passed.size()) - 1);
  }
  std::string pass_bytes(std::string_view bytes) {
    return pass({.kind = PassedFd::Kind::kBytes, .text = std::string(bytes)});
  }

  void bind(const ViewEntry& entry) {
    // Passes each source once, however often it is shown.
    const PassedFd wanted{.kind = PassedFd::Kind::kPath, .text = entry.source};
    const auto known = std::ranges::find(command_.passed, wanted);
    const std::string fd = known == command_.passed.end()
                               ? pass(wanted)
                               : std::to_string(spawn::wire::kFirstPassedFd + (known - command_.passed.begin()));
    option({entry.access == RepoAccess::kWritable ? "--bind" : "--ro-bind", "/proc/self/fd/" + fd, entry.target});
  }

  [[nodiscard]] Command take() && { return std::move(command_); }

 private:
  Command command_;
};

std::uint64_t quota_of(const Plan& plan) { return count(plan.limits.disk.value_or(kDefaultDiskQuota)); }

void render_entry(const ViewEntry& entry, std::uint64_t quota, CommandBuilder& command) {
  switch (entry.kind) {
    case ViewKind::kDirectory:
      // bwrap's --dev makes everything below /dev.
      if (entry.target.starts_with("/dev")) return;
      command.option({"--perms", fmt::format("{:04o}", entry.mode), "--dir", entry.target});
      return;
    case ViewKind::kSymlink:
      if (!entry.target.starts_with("/dev/")) command.option({"--symlink", entry.source, entry.target});
      return;
    case ViewKind::kFile:
      command.option({"--perms", fmt::format("{:04o}", entry.mode), "--ro-bind-data", command.pass_bytes(entry.content),
                      entry.target});
      return;
    case ViewKind::kCopy:
      command.option({"--perms", fmt::format("{:04o}", entry.mode), "--ro-bind-data",
                      command.pass({.kind = PassedFd::Kind::kFile, .text = entry.source}), entry.target});
      return;
    case ViewKind::kBind:
      // Only a path that a user can swap needs a descriptor, and system paths belong to root; but one rule is simpler
      // than two.
      command.bind(entry);
      return;
    case ViewKind::kDevice:
      return;
    case ViewKind::kDevpts:
      command.option({"--dev", "/dev"});
      return;
    case ViewKind::kMqueue:
      command.option({"--mqueue", entry.target});
      return;
    case ViewKind::kScratch:
      command.option(
          {"--perms", "1777", "--size", std::to_string(quota - kSharing * (quota / kShare)), "--tmpfs", entry.target});
      return;
    case ViewKind::kShared:
      command.option({"--perms", "1777", "--size", std::to_string(std::max<std::uint64_t>(quota / kShare, 4096)),
                      "--tmpfs", entry.target});
      return;
    case ViewKind::kProc:
      command.option({"--proc", entry.target});
      return;
    case ViewKind::kOverlay:  // the gate asks for none: see BwrapJail::layers()
    case ViewKind::kAlias:
      return;
    case ViewKind::kMask:
      if (entry.source_is_directory) {
        command.option({"--size", "4096", "--tmpfs", entry.target, "--remount-ro", entry.target});
      } else {
        command.option({"--ro-bind", "/dev/null", entry.target});
      }
      return;
  }
}

// bwrap deletes a file of data once it is mounted, and cannot mount on it again: so the caller's own /etc/hosts
// replaces ours.
bool is_covered(const ViewEntry& entry, std::span<const ViewEntry> view) {
  if (entry.kind != ViewKind::kFile && entry.kind != ViewKind::kCopy) return false;
  return std::ranges::any_of(view, [&](const ViewEntry& other) {
    return other.kind == ViewKind::kBind && other.of_caller && other.target == entry.target;
  });
}

}  // namespace

Command render(const Plan& plan, const Inputs& inputs) {
  CommandBuilder command;
  command.option({"bwrap", "--unshare-all", "--unshare-user", "--new-session", "--die-with-parent", "--as-pid-1",
                  "--uid", "1000", "--gid", "1000", "--hostname", "sallyport", "--cap-drop", "ALL", "--clearenv"});
  // With hosts, bwrap starts in a network namespace of ours, where only the egress sockets answer. Without hosts, we
  // repeat --unshare-net: if the worker can make a network of ours, which reports refusals, it replaces that option.
  const std::size_t network_at = command.size();
  command.option({plan.allowed_hosts.empty() ? "--unshare-net" : kSharesNetwork});
  for (const ViewEntry& entry : inputs.view) {
    if (!is_covered(entry, inputs.view)) render_entry(entry, quota_of(plan), command);
  }
  command.option({"--perms", "0555", "--ro-bind-data", command.pass({.kind = PassedFd::Kind::kInit}),
                  std::string(spawn::kInitPath), "--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/",
                  "--chdir", plan.cwd.string(), "--", std::string(spawn::kInitPath),
                  command.pass({.kind = PassedFd::Kind::kInnerImage})});
  Command rendered = std::move(command).take();
  if (plan.allowed_hosts.empty()) {
    rendered.with_network = {.at = static_cast<std::uint32_t>(network_at), .word = kSharesNetwork};
  }
  return rendered;
}

spawn::LaunchSpec render_inner(const Plan& plan, const Inputs& inputs) {
  // Do not pass the filter by --seccomp: our init first compares the mounts, with a call that the filter refuses.
  spawn::JailPlace place = spawn::wrapped_place(plan);
  place.exe = inputs.exe;
  place.landlock_writable = writable_places(inputs.view);
  place.landlock_writable.emplace_back("/var/tmp");  // here not the same directory as /tmp
  for (const ViewEntry& entry : inputs.view) spawn::add_identity_check(entry, inputs.identity_of, place.root_ops);
  spawn::LaunchSpec spec;
  spec.argv = inputs.argv;
  spec.env = env_texts(jail_env(plan));
  spec.place = std::move(place);
  return spec;
}

}  // namespace sallyport::bwrap
