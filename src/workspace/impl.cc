#include "workspace/impl.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/errors.h"
#include "core/text/printable.h"
#include "core/view/paths.h"
#include "os/canonical.h"
#include "os/directory.h"
#include "os/openat2.h"
#include "os/remove_tree.h"
#include "os/run_as.h"
#include "workspace/copy.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;
using workspace::About;
using workspace::Held;

// Not the coarse clock of most time stamps: since Linux 6.13 a file that was stat'ed gets a fine stamp, and a file
// written just before must not count as written after.
std::int64_t file_system_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

Status make_directory(int parent, const std::string& name) {
  if (::mkdirat(parent, name.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return fail(system_error("make", name, errno));
}

bool is_empty(int directory) {
  const Result<UniqueFd> listed = open_beneath(directory, ".", O_RDONLY | O_DIRECTORY);
  const Result<std::vector<std::string>> names =
      listed ? list_directory(listed->get(), "a layer", 1) : fail(listed.error());
  return names && names->empty();
}

Status check_options(const WorkspaceOptions& options) {
  if (!options.name.empty() && !workspace::is_workspace_name(options.name)) {
    return fail(invalid_request("workspace", fmt::format("'{}' is no name for one", printable(options.name)),
                                "1 to 64 letters, digits, '.', '_' or '-', the first a letter or digit"));
  }
  if (options.quota && (count(*options.quota) == 0 || count(*options.quota) > std::uint64_t{1} << 50U)) {
    return fail(invalid_request("quota", "must be greater than 0 and less than a pebibyte"));
  }
  return {};
}

Status check_apart(const fs::path& repo, const fs::path& state) {
  if (!is_inside(state, repo) && !is_inside(repo, state)) return {};
  return fail(invalid_request(
      "state_dir",
      fmt::format("{} and the repo {} lie in one another", printable(state.native()), printable(repo.native())),
      "choose a directory outside the repo"));
}

// Opens the directory at this path, or its nearest existing ancestor.
UniqueFd open_nearest(fs::path path) {
  for (;; path = path.parent_path()) {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd || !path.has_relative_path()) return fd;
  }
}

Result<struct stat> stat_of(int fd, const fs::path& path) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return fail(system_error("stat", path.native(), errno));
  return info;
}

}  // namespace

Result<std::unique_ptr<Workspace::Impl>> Workspace::Impl::open(WorkspaceOptions options) {
  TRY(check_options(options));
  options.repo = TRY(canonical_directory(options.repo, "repo"));
  // First check the part that exists: do not create a refused place.
  std::error_code error;
  if (!options.state_dir.empty()) TRY(check_apart(options.repo, fs::weakly_canonical(options.state_dir, error)));
  UniqueFd root = TRY(workspace::open_state_dir(options.state_dir));
  options.state_dir = TRY(canonical_directory(options.state_dir, "state_dir"));
  TRY(check_apart(options.repo, options.state_dir));
  TRY(workspace::sweep_stale(root.get()));
  std::unique_ptr<Impl> impl(new Impl());
  impl->repo_ = TRY(open_exactly(options.repo, O_RDONLY | O_DIRECTORY));
  impl->held_ = TRY(workspace::hold(std::move(root), options.name));
  impl->path_ = options.state_dir / impl->held_.id;
  impl->events_ = options.events;
  impl->overlay_only_ = options.mechanism == WorkspaceMechanism::kOverlay;
  const Result<std::optional<About>> known = workspace::read_about(impl->directory());
  if (!known) return fail(known.error());
  if (*known) {
    impl->about_ = **known;
    TRY(impl->reopen(options));
  } else {
    TRY(impl->make(options));
  }
  return impl;
}

Result<std::unique_ptr<Workspace>> Workspace::Impl::foresee(WorkspaceOptions options) {
  TRY(check_options(options));
  options.repo = TRY(canonical_directory(options.repo, "repo"));
  if (options.state_dir.empty()) return fail(workspace::no_state_dir());
  std::error_code error;
  options.state_dir = fs::weakly_canonical(options.state_dir, error);
  TRY(check_apart(options.repo, options.state_dir));
  std::unique_ptr<Impl> impl(new Impl());
  impl->repo_ = TRY(open_exactly(options.repo, O_RDONLY | O_DIRECTORY));
  impl->path_ = options.state_dir / (options.name.empty() ? "anonymous" : workspace::id_of_name(options.name));
  impl->overlay_only_ = options.mechanism == WorkspaceMechanism::kOverlay;
  impl->about_ = {
      .name = options.name, .repo = options.repo, .quota = count(options.quota.value_or(kDefaultWorkspaceQuota))};
  if (fs::exists(options.state_dir, error)) TRY(impl->check_known(options));
  return std::unique_ptr<Workspace>(new Workspace(std::move(impl)));
}

// Reads the workspace of that name, if it exists.
Status Workspace::Impl::check_known(const WorkspaceOptions& options) {
  const UniqueFd root = TRY(workspace::open_existing_state_dir(options.state_dir));
  const UniqueFd fd(::openat(root.get(), path_.filename().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd && errno == ENOENT) return {};
  if (!fd) return fail(system_error("open", path_.native(), errno));
  const std::optional<About> known = TRY(workspace::read_about(fd.get()));
  if (!known) return {};
  about_ = *known;
  TRY(check_same_repo(options));
  upper_ = TRY(open_beneath(fd.get(), "layer/upper", O_RDONLY | O_DIRECTORY));
  if (is_copy()) copy_ = TRY(open_beneath(fd.get(), "copy", O_RDONLY | O_DIRECTORY));
  return {};
}

Status Workspace::Impl::make(const WorkspaceOptions& options) {
  // A killed maker may have left a part.
  for (const char* part : {"layer", "copy"}) TRY(remove_tree_at(directory(), part));
  const struct stat repo = TRY(stat_of(repo_.get(), options.repo));
  about_ = {.name = options.name,
            .repo = options.repo,
            .repo_device = repo.st_dev,
            .repo_inode = repo.st_ino,
            .quota = count(options.quota.value_or(kDefaultWorkspaceQuota)),
            .made_ns = file_system_clock()};
  TRY(make_directory(directory(), "layer"));
  for (const char* part : {"layer/lower", "layer/upper", "layer/work"}) TRY(make_directory(directory(), part));
  TRY(open_layers());
  if (options.mechanism == WorkspaceMechanism::kCopy) TRY(make_copy(owner_to_run_as(options.repo)));
  return workspace::write_about(directory(), about_);
}

Status Workspace::Impl::check_same_repo(const WorkspaceOptions& options) const {
  if (about_.repo != options.repo) {
    return fail(invalid_request("workspace",
                                fmt::format("{} is one of {}, not of {}", about_.name, printable(about_.repo.native()),
                                            printable(options.repo.native())),
                                "choose another name, or discard it first"));
  }
  const struct stat repo = TRY(stat_of(repo_.get(), options.repo));
  if (repo.st_dev != about_.repo_device || repo.st_ino != about_.repo_inode) {
    return fail(invalid_request("workspace",
                                fmt::format("another directory stands at {} than when {} was made",
                                            printable(options.repo.native()), about_.name),
                                "discard it, and make a new one"));
  }
  return {};
}

Status Workspace::Impl::reopen(const WorkspaceOptions& options) {
  TRY(check_same_repo(options));
  if (options.quota) about_.quota = count(*options.quota);
  TRY(open_layers());
  clear_work();
  // Its owner was killed while the first run wrote.
  if (about_.mechanism == WorkspaceMechanism::kAuto && !is_empty(upper_.get())) {
    about_.mechanism = WorkspaceMechanism::kOverlay;
  }
  return workspace::write_about(directory(), about_);
}

Status Workspace::Impl::open_layers() {
  upper_ = TRY(open_beneath(directory(), "layer/upper", O_RDONLY | O_DIRECTORY));
  if (about_.mechanism == WorkspaceMechanism::kCopy) {
    copy_ = TRY(open_beneath(directory(), "copy", O_RDONLY | O_DIRECTORY));
  }
  // Give the view's root the mode of the repo's own directory.
  const struct stat repo = TRY(stat_of(repo_.get(), about_.repo));
  if (about_.mechanism == WorkspaceMechanism::kAuto) {
    if (::fchmod(upper_.get(), repo.st_mode & 0777) != 0)
      return fail(system_error("set the mode of", "a layer", errno));
  }
  return {};
}

Workspace::Impl::~Impl() {
  if (!held_.lock) return;
  if (about_.name.empty()) {
    static_cast<void>(remove());  // on failure the next open() does it
  } else {
    clear_work();
  }
}

Status Workspace::Impl::remove() {
  if (!held_.lock) return {};
  meter_.reset();
  TRY(remove_tree_at(held_.root.get(), held_.id));
  held_ = {};
  return {};
}

void Workspace::Impl::clear_work() const {
  static_cast<void>(remove_tree_at(directory(), "layer/work"));  // the next owner clears what stays
  static_cast<void>(make_directory(directory(), "layer/work"));
}

Status Workspace::Impl::begin_use() {
  if (!held_.lock) return fail(invalid_request("workspace", "was discarded", "open another one"));
  if (!in_use_.exchange(true)) return {};
  return fail(invalid_request("workspace", "another run is using it", "run one after the other, or open a second one"));
}

Status Workspace::Impl::discard() {
  if (!in_use_) return remove();
  return fail(invalid_request("workspace", "a run is using it", "stop the run first"));
}

void Workspace::Impl::end_use() {
  clear_work();
  in_use_ = false;
}

// An upper layer needs extended attributes, and the kernel refuses overlayfs over overlayfs. A run tries it; only
// explain, which writes nothing, queries the file system instead, at the directory that will hold the layer if there is
// none yet.
Status Workspace::Impl::check_overlay(Purpose purpose) const {
  const UniqueFd above = upper_ ? UniqueFd() : open_nearest(path_);
  const int fd = upper_ ? upper_.get() : above.get();
  struct statfs info{};
  if (::fstatfs(fd, &info) != 0) return fail(system_error("stat", path_.native(), errno));
  constexpr const char* kProbe = "user.overlay.probe";
  const bool tried = purpose == Purpose::kRun && ::fsetxattr(fd, kProbe, "y", 1, 0) == 0;
  if (tried) ::fremovexattr(fd, kProbe);
  const bool asked = purpose == Purpose::kExplain && (::fgetxattr(fd, kProbe, nullptr, 0) >= 0 || errno == ENODATA);
  const bool holds_marks = tried || asked;
  if (holds_marks && info.f_type != OVERLAYFS_SUPER_MAGIC) return {};
  return fail(invalid_request(
      "workspace", fmt::format("the file system of {} cannot hold an overlay's layer", printable(path_.native())),
      "choose another state directory, or `WorkspaceMechanism::kCopy`"));
}

Result<PrivateLayer> Workspace::Impl::overlay_layer(Purpose purpose, const std::optional<UserIds>& run_as) {
  PrivateLayer layer{.over = about_.repo, .state = path_ / "layer", .work = "work/0"};
  if (purpose == Purpose::kExplain) return layer;
  layer.work = fmt::format("work/{}", next_work_++);
  TRY(make_directory(directory(), "layer/" + layer.work));
  if (!run_as) return layer;
  // The directories around it stay private to us, so no other process of that user can get here.
  for (const std::string& part : {std::string("layer"), std::string("layer/lower"), std::string("layer/upper"),
                                  std::string("layer/work"), "layer/" + layer.work}) {
    if (::fchownat(directory(), part.c_str(), run_as->uid, run_as->gid, AT_SYMLINK_NOFOLLOW) != 0) {
      return fail(system_error("give away", part, errno));
    }
  }
  return layer;
}

Result<PrivateLayer> Workspace::Impl::layer(LayerSupport support, Purpose purpose,
                                            const std::optional<UserIds>& run_as) {
  // A run whose end we did not see may still have written.
  if (about_.mechanism == WorkspaceMechanism::kAuto && upper_ && !is_empty(upper_.get())) {
    about_.mechanism = WorkspaceMechanism::kOverlay;
  }
  if (support == LayerSupport::kNone) {
    return fail(invalid_request("workspace", "this jail cannot show one in the repo's place", "choose another jail"));
  }
  if (!is_copy() && support == LayerSupport::kOverlay) {
    const Status can = check_overlay(purpose);
    if (can) return overlay_layer(purpose, run_as);
    if (overlay_only_ || about_.mechanism == WorkspaceMechanism::kOverlay) return fail(can.error());
  }
  if (about_.mechanism == WorkspaceMechanism::kOverlay || (overlay_only_ && !is_copy())) {
    return fail(invalid_request("workspace", "it is an overlay, which this jail cannot mount",
                                "use the jail of its first run, or make a new one with `WorkspaceMechanism::kCopy`"));
  }
  if (!is_copy() && purpose == Purpose::kRun) {
    TRY(make_copy(run_as));
    TRY(workspace::write_about(directory(), about_));
  }
  return PrivateLayer{.over = about_.repo, .state = path_ / "copy", .reflinked = about_.reflinked};
}

Status Workspace::Impl::make_copy(const std::optional<UserIds>& owner) {
  const workspace::CopyDone done = TRY(workspace::copy_repo(
      {.from = repo_.get(), .into = directory(), .cap = ByteCount{about_.quota}, .owner = owner, .events = events_}));
  about_.mechanism = WorkspaceMechanism::kCopy;
  about_.reflinked = done.reflinked;
  copy_ = TRY(open_beneath(directory(), "copy", O_RDONLY | O_DIRECTORY));
  meter_.reset();
  return {};
}

Status Workspace::Impl::keep(const PrivateLayer& layer) {
  if (!layer.is_overlay() || about_.mechanism == WorkspaceMechanism::kOverlay) return {};
  about_.mechanism = WorkspaceMechanism::kOverlay;
  return workspace::write_about(directory(), about_);
}

workspace::LayerMeter& Workspace::Impl::meter() {
  if (!meter_) {
    // In a copy, the copied files do not count as written by runs.
    const workspace::LayerUse before = is_copy() ? workspace::copied_use(directory()) : workspace::LayerUse{};
    const char* const place = is_copy() ? "copy" : "layer";
    const int fd = openat2_beneath(directory(), place, O_RDONLY | O_DIRECTORY);
    meter_ = std::make_unique<workspace::LayerMeter>(UniqueFd(fd), before, about_.repo);
  }
  return *meter_;
}

workspace::MergedView Workspace::Impl::view() const {
  return is_copy() ? workspace::MergedView(-1, copy_.get())
                   : workspace::MergedView(upper_ ? upper_.get() : -1, repo_.get());
}

}  // namespace sallyport
