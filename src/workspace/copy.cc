#include "workspace/copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <optional>
#include <utility>
#include <vector>

#include "core/errors.h"
#include "os/file.h"
#include "os/openat2.h"
#include "os/remove_tree.h"
#include "sallyport/event_name.h"
#include "workspace/tree_walk.h"

namespace sallyport::workspace {
namespace {

constexpr const char* kCopy = "copy";
constexpr const char* kManifest = "manifest";
constexpr std::string_view kHead = "sallyport-manifest/1";
constexpr ByteCount kLargestManifest = mebibytes(4096);
constexpr std::uint64_t kBetweenEvents = std::uint64_t{64} << 20U;

class Copier {
 public:
  explicit Copier(const CopyRequest& request) : request_(request) {}

  Result<CopyDone> run() {
    TRY(remove_tree_at(request_.into, kCopy));
    if (::mkdirat(request_.into, kCopy, 0700) != 0) return fail(system_error("make", kCopy, errno));
    root_ = TRY(open_beneath(request_.into, kCopy, O_RDONLY | O_DIRECTORY));
    TreeWalk walk(TRY(open_beneath(request_.from, ".", O_RDONLY | O_DIRECTORY)), Shut::kSkipped);
    while (TRY(walk.next())) TRY(copy_one(walk));
    struct stat top{};
    if (::fstat(request_.from, &top) != 0) return fail(system_error("stat", "the repo", errno));
    modes_.emplace_back(".", top.st_mode & 0777U);
    TRY(give_away("."));
    for (auto at = modes_.rbegin(); at != modes_.rend(); ++at) TRY(set_mode(at->first, at->second));
    TRY(write_manifest());
    if (skipped_ + walk.skipped() > 0) emit(event_name::kWorkspaceCopyLeftOut, "files", skipped_ + walk.skipped());
    return CopyDone{.reflinked = cloned_ > 0 && copied_ == 0};
  }

 private:
  Status copy_one(const TreeWalk& walk) {
    const struct stat& info = walk.info();
    const std::string& path = walk.path();
    switch (info.st_mode & S_IFMT) {
      case S_IFDIR:
        if (::mkdirat(root_.get(), path.c_str(), 0700) != 0) return fail(system_error("copy", path, errno));
        modes_.emplace_back(path, info.st_mode & 0777U);
        return note(path, info);
      case S_IFLNK:
        return copy_link(walk);
      case S_IFREG:
        return copy_file(walk);
      default:
        ++skipped_;
        return {};
    }
  }

  Status copy_link(const TreeWalk& walk) {
    std::array<char, PATH_MAX> text{};
    const ssize_t size = ::readlinkat(walk.parent(), walk.name().c_str(), text.data(), text.size() - 1);
    if (size < 0) return fail(system_error("read the link", walk.path(), errno));
    if (::symlinkat(text.data(), root_.get(), walk.path().c_str()) != 0) {
      return fail(system_error("copy", walk.path(), errno));
    }
    return note(walk.path(), walk.info());
  }

  Status copy_file(const TreeWalk& walk) {
    const int from = openat2_beneath(walk.parent(), walk.name().c_str(), O_RDONLY | O_NONBLOCK);
    if (from == -EACCES || from == -ENOENT) {
      ++skipped_;
      return {};
    }
    if (from < 0) return fail(system_error("open", walk.path(), -from));
    const UniqueFd source(from);
    const UniqueFd target(::openat(root_.get(), walk.path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!target) return fail(system_error("copy", walk.path(), errno));
    if (::ioctl(target.get(), FICLONE, source.get()) == 0) {
      cloned_ += walk.info().st_size > 0 ? 1 : 0;
      TRY(count_bytes(static_cast<std::uint64_t>(walk.info().st_size)));
    } else {
      TRY(check_file_limit(static_cast<std::uint64_t>(walk.info().st_size), walk.path()));
      TRY(copy_bytes(source.get(), target.get(), walk.path()));
    }
    const std::array<timespec, 2> times = {walk.info().st_atim, walk.info().st_mtim};  // make(1) relies on them
    if (::futimens(target.get(), times.data()) != 0 || ::fchmod(target.get(), walk.info().st_mode & 0777U) != 0) {
      return fail(system_error("copy", walk.path(), errno));
    }
    return note(walk.path(), walk.info());
  }

  Status copy_bytes(int from, int to, const std::string& path) {
    constexpr std::size_t kPiece = std::size_t{8} << 20U;
    for (;;) {
      const ssize_t size = ::copy_file_range(from, nullptr, to, nullptr, kPiece, 0);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return fail(system_error("copy", path, errno));
      if (size == 0) return {};
      copied_ = 1;
      TRY(count_bytes(static_cast<std::uint64_t>(size)));
    }
  }

  Status count_bytes(std::uint64_t bytes) {
    total_ += bytes;
    if (total_ > count(request_.cap)) {
      return fail(invalid_request(
          "workspace", fmt::format("a copy of the repo would hold more than the {} bytes allowed", count(request_.cap)),
          "raise the quota, or use a jail that mounts an overlay (native)"));
    }
    if (total_ >= next_event_) {
      next_event_ = total_ + kBetweenEvents;
      emit(event_name::kWorkspaceCopyProgress, "bytes", total_);
    }
    return {};
  }

  void emit(std::string_view name, std::string_view field, std::uint64_t value) const {
    if (request_.events == nullptr) return;
    request_.events->emit({.level = EventLevel::kDebug, .name = name, .fields = {{field, std::to_string(value)}}});
  }

  Status note(const std::string& path, const struct stat& host) {
    struct stat made{};
    TRY(give_away(path));
    if (::fstatat(root_.get(), path.c_str(), &made, AT_SYMLINK_NOFOLLOW) != 0) {
      return fail(system_error("stat", path, errno));
    }
    records_ += fmt::format("{} {} {} {} {} ", made.st_mode, made.st_ino, ctime_ns(made), host.st_ino, ctime_ns(host));
    records_ += path;
    records_ += '\0';
    return {};
  }

  Status give_away(const std::string& path) const {
    const std::optional<UserIds>& owner = request_.owner;
    if (!owner || ::fchownat(root_.get(), path.c_str(), owner->uid, owner->gid, AT_SYMLINK_NOFOLLOW) == 0) return {};
    return fail(system_error("give away", path, errno));
  }

  Status set_mode(const std::string& path, mode_t mode) const {
    const UniqueFd fd = TRY(open_beneath(root_.get(), path, O_RDONLY | O_DIRECTORY));
    if (::fchmod(fd.get(), mode) != 0) return fail(system_error("copy", path, errno));
    return {};
  }

  // Written beside the copy, so that only we can change it; without it the copy counts as not made.
  Status write_manifest() {
    LayerMeter meter(TRY(open_beneath(request_.into, kCopy, O_RDONLY | O_DIRECTORY)), {});
    const LayerUse use = TRY(meter.measure());
    const UniqueFd fd = TRY(open_path_at(request_.into, kManifest, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
    TRY(write_all(fd.get(), fmt::format("{} {} {}", kHead, use.bytes, use.files) + '\0', kManifest));
    return write_all(fd.get(), records_, kManifest);
  }

  const CopyRequest& request_;
  UniqueFd root_;
  std::vector<std::pair<std::string, mode_t>> modes_;
  std::string records_;
  std::uint64_t total_ = 0;
  std::uint64_t next_event_ = kBetweenEvents;
  std::size_t cloned_ = 0;
  std::size_t copied_ = 0;
  std::size_t skipped_ = 0;
};

Result<std::string> manifest_text(int workspace_directory) {
  const UniqueFd fd = TRY(open_beneath(workspace_directory, kManifest, O_RDONLY));
  return read_all(fd.get(), kLargestManifest, kManifest);
}

// The next number before a space, and what follows it.
template <class Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() + text.size() || *end != ' ') return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

}  // namespace

std::int64_t ctime_ns(const struct stat& info) {
  return std::int64_t{info.st_ctim.tv_sec} * 1'000'000'000 + info.st_ctim.tv_nsec;
}

Result<CopyDone> copy_repo(const CopyRequest& request) { return Copier(request).run(); }

Result<Manifest> read_manifest(int workspace_directory) {
  const std::string text = TRY(manifest_text(workspace_directory));
  Manifest manifest;
  std::string_view rest = text;
  rest.remove_prefix(std::min(rest.find('\0'), rest.size() - 1) + 1);
  while (!rest.empty()) {
    const std::size_t end = rest.find('\0');
    std::string_view record = rest.substr(0, end);
    CopiedFile file;
    const bool whole = end != std::string_view::npos && take_number(record, file.mode) &&
                       take_number(record, file.inode) && take_number(record, file.ctime_ns) &&
                       take_number(record, file.host_inode) && take_number(record, file.host_ctime_ns);
    if (!whole) return fail(system_error("read", kManifest, EUCLEAN, "discard the workspace"));
    manifest.emplace(record, file);
    rest.remove_prefix(end + 1);
  }
  return manifest;
}

LayerUse copied_use(int workspace_directory) {
  const Result<std::string> text = manifest_text(workspace_directory);
  if (!text || !text->starts_with(kHead)) return {};
  std::string_view rest = std::string_view(*text).substr(kHead.size() + 1);
  LayerUse use;
  if (!take_number(rest, use.bytes)) return {};
  static_cast<void>(std::from_chars(rest.data(), rest.data() + rest.size(), use.files));
  return use;
}

}  // namespace sallyport::workspace
