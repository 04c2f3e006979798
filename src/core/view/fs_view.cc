#include "core/view/fs_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "core/errors.h"
#include "core/view/paths.h"
#include "core/view/shown_paths.h"
#include "sallyport/jail.h"

namespace sallyport {
namespace {

// tty is the process's own controlling terminal: never the host's, since the tool has its own session, only one that
// the tool has opened itself (script, node-pty).
constexpr auto kDevices = std::to_array<const char*>({"null", "zero", "full", "random", "urandom", "tty"});

struct TextFile {
  const char* path;
  const char* content;
};

// Names no user of the host; ids are those of the jail's user map. Names fit the eight columns of `ls -l` and `ps`.
constexpr auto kEtcFiles = std::to_array<TextFile>({
    TextFile{"/etc/passwd",
             "root:x:0:0:root:/root:/usr/sbin/nologin\n"
             "sally:x:1000:1000:sallyport:/tmp/home:/bin/sh\n"
             "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
    TextFile{"/etc/group", "root:x:0:\nsally:x:1000:\nnogroup:x:65534:\n"},
    TextFile{"/etc/hosts", "127.0.0.1 localhost sallyport\n::1 localhost\n"},
    TextFile{"/etc/hostname", "sallyport\n"},
    TextFile{"/etc/nsswitch.conf",
             "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n"},
    // The gate answers there, even when no host is allowed: then it denies a lookup at once and reports the host. Two
    // short tries: the answer comes from this machine, at once or never.
    TextFile{"/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:2 attempts:2\n"},
});

constexpr std::size_t kUsualSteps = 96;

class ViewBuilder {
 public:
  ViewBuilder() { view_.reserve(kUsualSteps); }
  // Continues after the entries that another builder has made.
  explicit ViewBuilder(const std::vector<ViewEntry>& base) : ViewBuilder() {
    view_.insert(view_.end(), base.begin(), base.end());
    for (const ViewEntry& entry : base) {
      const bool is_file = entry.kind == ViewKind::kFile || entry.kind == ViewKind::kCopy;
      if (entry.kind == ViewKind::kBind) {
        binds_.push_back(entry.target);
      } else {
        known_.try_emplace(entry.target, !is_file);
      }
    }
  }

  void directory(const std::string& target, std::uint32_t mode = 0755) {
    if (target == "/" || below_bind(target) || !known_.try_emplace(target, true).second) return;
    directory(parent_of(target));
    view_.push_back({.kind = ViewKind::kDirectory, .target = target, .mode = mode, .of_caller = caller_decides_});
  }

  void add(ViewEntry entry) {
    directory(parent_of(entry.target));
    const bool is_file = entry.kind == ViewKind::kFile || entry.kind == ViewKind::kCopy;
    known_.try_emplace(entry.target, !is_file);
    view_.push_back(std::move(entry));
  }

  void bind(const std::string& target, const HostPath& source, RepoAccess access, bool no_exec = false) {
    const bool inside = below_bind(target);
    if (source.is_directory) {
      directory(target);
    } else if (!inside) {
      directory(parent_of(target));
    }
    view_.push_back({.kind = ViewKind::kBind,
                     .target = target,
                     .source = source.path,
                     .access = access,
                     .source_is_directory = source.is_directory,
                     .make_target = !source.is_directory && !inside,
                     .of_caller = caller_decides_,
                     .no_exec = no_exec});
    binds_.push_back(target);
  }

  // Switches off the options that would let a layer refer to files elsewhere. volatile: a private layer need not
  // survive a power cut, and without it an unmount would sync the whole disk.
  void layer(const std::string& target, const PrivateLayer& layer) {
    if (!layer.is_overlay()) return bind(target, {layer.state, true}, RepoAccess::kWritable);
    directory(target);
    view_.push_back({.kind = ViewKind::kOverlay,
                     .target = target,
                     .source = layer.over,
                     .content = fmt::format("lowerdir=lower,upperdir=upper,workdir={},userxattr,volatile,"
                                            "redirect_dir=nofollow,metacopy=off,index=off",
                                            layer.work),
                     .state = layer.state,
                     .access = RepoAccess::kWritable,
                     .of_caller = caller_decides_});
    binds_.push_back(target);
  }

  // An upper layer can be mounted only once, so its second name is the same mount.
  void alias(const std::string& target, const std::string& source) {
    directory(target);
    view_.push_back({.kind = ViewKind::kAlias,
                     .target = target,
                     .source = source,
                     .access = RepoAccess::kWritable,
                     .of_caller = caller_decides_});
    binds_.push_back(target);
  }

  void shut(const HostPath& path, const std::string& target) {
    view_.push_back({.kind = ViewKind::kMask, .target = target, .source_is_directory = path.is_directory});
  }

  // Only where nothing is yet: a shown part of the host shows its own links, too.
  void link(const HostLayout::Link& link) {
    if (below_bind(link.path) || known_.contains(link.path)) return;
    add({.kind = ViewKind::kSymlink, .target = link.path, .source = link.text, .of_caller = true});
  }

  // Why `source` cannot be shown at its own path: something of the jail is in the way.
  [[nodiscard]] std::optional<std::string> obstacle(const HostPath& source) const {
    for (const ViewEntry& entry : view_) {
      if (entry.kind == ViewKind::kSymlink && is_inside(source.path, entry.target)) {
        return fmt::format("{} is a link to {} in the jail", entry.target, entry.source);
      }
    }
    const auto known = known_.find(source.path);
    if (known == known_.end() || known->second == source.is_directory || below_bind(source.path)) return std::nullopt;
    return fmt::format("the jail has a {} of its own there", known->second ? "directory" : "file");
  }

  // Marks later entries as the caller's.
  void caller_decides() { caller_decides_ = true; }

  void call_it_base() {
    for (ViewEntry& entry : view_) entry.of_base = true;
  }

  [[nodiscard]] std::vector<ViewEntry> take() && { return std::move(view_); }

 private:
  // Of an absolute path.
  static std::string parent_of(const std::string& target) {
    return target.substr(0, std::max<std::size_t>(target.rfind('/'), 1));
  }
  // The view never creates anything below a bind: that would create it in the user's own directory.
  [[nodiscard]] bool below_bind(const std::string& target) const {
    return std::ranges::any_of(binds_, [&](const std::string& bind) { return is_inside(target, bind); });
  }

  std::vector<ViewEntry> view_;
  std::vector<std::string> binds_;
  std::map<std::string, bool> known_;  // whether it is a directory
  bool caller_decides_ = false;
};

void add_system(ViewBuilder& view, const HostLayout& host) {
  for (const std::string& path : host.system_directories) view.bind(path, {path, true}, RepoAccess::kReadOnly);
  for (const HostLayout::Link& link : host.system_links) {
    view.add({.kind = ViewKind::kSymlink, .target = link.path, .source = link.text});
  }
  for (const char* empty : {"/home", "/root", "/run", "/var", "/etc"}) view.directory(empty);
  view.add({.kind = ViewKind::kSymlink, .target = "/var/run", .source = "/run"});
  view.directory("/var/tmp");
  for (const HostPath& path : host.etc) view.bind(path.path, path, RepoAccess::kReadOnly);
  for (const HostLayout::Link& link : host.etc_links) {
    view.add({.kind = ViewKind::kSymlink, .target = link.path, .source = link.text});
  }
  for (const std::string& file : host.etc_files) {
    view.add({.kind = ViewKind::kCopy, .target = file, .source = file, .mode = 0444});
  }
  for (const TextFile& file : kEtcFiles) {
    view.add({.kind = ViewKind::kFile, .target = file.path, .content = file.content, .mode = 0444});
  }
}

void add_devices(ViewBuilder& view, bool mqueue) {
  view.directory("/dev");
  for (const char* name : kDevices) {
    const std::string path = fmt::format("/dev/{}", name);
    view.add(
        {.kind = ViewKind::kDevice, .target = path, .source = path, .source_is_directory = false, .make_target = true});
  }
  view.directory("/dev/pts");
  view.add({.kind = ViewKind::kDevpts, .target = "/dev/pts"});
  if (mqueue) {
    view.directory(std::string(kJailMqueue));
    view.add({.kind = ViewKind::kMqueue, .target = std::string(kJailMqueue)});
  }
  for (const auto& [name, text] :
       {std::pair{"ptmx", "pts/ptmx"}, std::pair{"fd", "/proc/self/fd"}, std::pair{"stdin", "/proc/self/fd/0"},
        std::pair{"stdout", "/proc/self/fd/1"}, std::pair{"stderr", "/proc/self/fd/2"}}) {
    view.add({.kind = ViewKind::kSymlink, .target = fmt::format("/dev/{}", name), .source = text});
  }
}

void add_scratch(ViewBuilder& view, ByteCount disk) {
  view.directory("/tmp");
  view.add({.kind = ViewKind::kScratch,
            .target = "/tmp",
            .content = fmt::format("size={},nr_inodes={},mode=1777", count(disk), scratch_files(disk)),
            .mode = 01777});
  // A mount, not a symlink: a repo below /var/tmp must appear there, and not where a link leads.
  view.add({.kind = ViewKind::kShared, .target = "/var/tmp", .source = "/tmp"});
  view.directory(std::string(kJailScratch), 0700);
  view.directory(std::string(kJailHome), 0700);
  view.directory("/tmp/.shm", 01777);
  view.directory("/dev/shm");
  view.add({.kind = ViewKind::kShared, .target = "/dev/shm", .source = "/tmp/.shm"});
}

void add_proc(ViewBuilder& view, const HostLayout& host) {
  view.directory("/proc");
  view.add({.kind = ViewKind::kProc, .target = "/proc"});
  for (const HostPath& masked : host.proc_masks) {
    view.add({.kind = ViewKind::kMask, .target = masked.path, .source_is_directory = masked.is_directory});
  }
}

// Leaves out the alias /work when something of the host is shown below /work: its mount point would have to be made
// inside the repo.
bool work_is_free(const ViewInputs& inputs) {
  const auto below_work = [](const HostPath& path) { return is_inside(path.path, kJailRepo); };
  return !is_inside(inputs.repo, kJailRepo) && std::ranges::none_of(inputs.read_only, below_work) &&
         std::ranges::none_of(inputs.read_write, below_work) && std::ranges::none_of(inputs.tool_files, below_work) &&
         std::ranges::none_of(inputs.layers,
                              [](const PrivateLayer& layer) { return is_inside(layer.over, kJailRepo); });
}

Status check_obstacle(const ViewBuilder& view, std::string_view field, const HostPath& path) {
  const std::optional<std::string> obstacle = view.obstacle(path);
  if (!obstacle) return {};
  return fail(
      invalid_request(field, fmt::format("{} cannot be shown: {}", path.path, *obstacle), "move it to another place"));
}

Status check_obstacles(const ViewBuilder& view, const ViewInputs& inputs) {
  TRY(check_obstacle(view, "repo", {inputs.repo, true}));
  for (const PrivateLayer& layer : inputs.layers) TRY(check_obstacle(view, "workspace", {layer.over, true}));
  for (const HostPath& path : inputs.read_only) TRY(check_obstacle(view, "extra_read_only", path));
  for (const HostPath& path : inputs.read_write) TRY(check_obstacle(view, "extra_read_write", path));
  for (const HostPath& path : inputs.tool_files) TRY(check_obstacle(view, "tool", path));
  return {};
}

// Repeats the entries below /work: otherwise the alias would bypass what is protected inside the repo.
void add_work(ViewBuilder& view, const std::vector<Shown>& shown, const std::string& repo) {
  for (const Shown& one : shown) {
    if (!is_inside(one.path.path, repo)) continue;
    const std::string target = std::string(kJailRepo) + one.path.path.substr(repo.size());
    if (one.layer != nullptr && one.layer->is_overlay()) {
      view.alias(target, one.path.path);
    } else if (one.layer != nullptr) {
      view.layer(target, *one.layer);
    } else {
      view.bind(target, one.path, one.access, one.no_exec);
    }
  }
}

// The places where a path of the repo is shown: its own path, and one below /work.
std::vector<std::string> places_of(const std::string& path, const ViewInputs& inputs) {
  std::vector<std::string> places = {path};
  if (work_is_free(inputs) && is_inside(path, inputs.repo)) {
    places.push_back(std::string(kJailRepo) + path.substr(inputs.repo.size()));
  }
  return places;
}

// Call last, so that no other entry shows again what is hidden.
void hide(ViewBuilder& view, const ViewInputs& inputs) {
  for (const HostPath& path : by_depth(inputs.hidden)) {
    for (const std::string& place : places_of(path.path, inputs)) view.shut(path, place);
  }
}

}  // namespace

namespace {

std::vector<ViewEntry> build_base(const HostLayout& host) {
  ViewBuilder view;
  add_system(view, host);
  add_devices(view, host.has_mqueue);
  add_proc(view, host);
  view.call_it_base();
  return std::move(view).take();
}

}  // namespace

HostRoot::HostRoot(HostLayout found) : layout(std::move(found)), base(build_base(layout)) {}

Result<std::vector<ViewEntry>> file_system_view(const ViewInputs& inputs, const HostRoot& host) {
  TRY(check_places(inputs, host.layout));
  ViewBuilder view(host.base);
  if (!inputs.ca_bundle.empty()) {
    view.add(
        {.kind = ViewKind::kFile, .target = std::string(kJailCaBundle), .content = inputs.ca_bundle, .mode = 0444});
  }
  add_scratch(view, inputs.disk);
  view.caller_decides();
  std::vector<Shown> shown = shown_paths(inputs);
  for (const HostPath& path : inputs.no_exec) TRY(check_shown("no_exec", path, shown));
  for (const HostPath& path : inputs.hidden) TRY(check_below_shown("hidden", path, shown));
  forbid_programs_below(inputs.no_exec, shown);
  TRY(check_obstacles(view, inputs));
  for (const HostPath& path : by_depth(inputs.tool_files)) view.bind(path.path, path, RepoAccess::kReadOnly);
  for (const Shown& one : shown) {
    if (one.layer != nullptr) {
      view.layer(one.path.path, *one.layer);
    } else {
      view.bind(one.path.path, one.path, one.access, one.no_exec);
    }
  }
  if (work_is_free(inputs)) add_work(view, shown, inputs.repo);
  hide(view, inputs);
  for (const HostLayout::Link& link : inputs.links) view.link(link);
  return std::move(view).take();
}

}  // namespace sallyport
