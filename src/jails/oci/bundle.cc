#include "jails/oci/bundle.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <utility>

#include "core/errors.h"
#include "jails/oci/oci.h"
#include "os/file.h"
#include "os/openat2.h"
#include "spawn/wire/wrapped.h"

namespace sallyport::oci {
namespace {

// The owner names no larger file; we leave out a file that has grown since, like one that cannot be read.
constexpr ByteCount kLargestCopy = ByteCount{std::uint64_t{256} << 10U};

// Creates files in one directory that no other user can reach. Modes are exact, whatever the umask.
class Maker {
 public:
  Maker(UniqueFd directory, std::string path, std::optional<UserIds> owner)
      : directory_(std::move(directory)), path_(std::move(path)), owner_(owner) {}

  [[nodiscard]] Status directory(const std::string& name, mode_t mode) const {
    if (::mkdirat(directory_.get(), name.c_str(), 0700) != 0) return failed("make", name);
    if (::fchmodat(directory_.get(), name.c_str(), mode, 0) != 0) return failed("set the mode of", name);
    return own(name);
  }

  [[nodiscard]] Status symlink(const std::string& name, const std::string& text) const {
    if (::symlinkat(text.c_str(), directory_.get(), name.c_str()) != 0) return failed("make", name);
    return own(name);
  }

  [[nodiscard]] Status file(const std::string& name, mode_t mode, std::string_view content) const {
    const UniqueFd fd =
        TRY(open_path_at(directory_.get(), name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, S_IRUSR | S_IWUSR));
    TRY(check_file_limit(content.size(), path_));
    TRY(write_all(fd.get(), content, path_));
    if (::fchmod(fd.get(), mode) != 0) return failed("set the mode of", name);
    return own(name);
  }

  [[nodiscard]] Result<Maker> inside(const std::string& name) const {
    UniqueFd fd = TRY(open_path_at(directory_.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    return Maker(std::move(fd), path_ + "/" + name, owner_);
  }

 private:
  [[nodiscard]] Status failed(const char* what, const std::string& name) const {
    return fail(system_error(what, path_ + "/" + name, errno));
  }
  [[nodiscard]] Status own(const std::string& name) const {
    if (!owner_) return {};
    if (::fchownat(directory_.get(), name.c_str(), owner_->uid, owner_->gid, AT_SYMLINK_NOFOLLOW) == 0) return {};
    return failed("give away", name);
  }

  UniqueFd directory_;
  std::string path_;
  std::optional<UserIds> owner_;
};

// If we cannot read the file, the tool could not have read it either.
std::optional<std::string> content_of(const std::string& path) {
  const Result<UniqueFd> fd = open_exactly(path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (!fd) return std::nullopt;
  Result<std::string> bytes = read_all(fd->get(), kLargestCopy, path);
  return bytes ? std::optional(*std::move(bytes)) : std::nullopt;
}

Status make_entry(const Maker& root, const ViewEntry& entry) {
  const std::string name = entry.target.substr(1);
  switch (entry.kind) {
    case ViewKind::kSymlink:
      return root.symlink(name, entry.source);
    case ViewKind::kFile:
      return root.file(name, entry.mode, entry.content);
    case ViewKind::kCopy:
      if (const std::optional<std::string> content = content_of(entry.source)) {
        return root.file(name, entry.mode, *content);
      }
      return {};
    default:
      return root.directory(name, entry.mode);
  }
}

}  // namespace

Result<ScratchDir> make_bundle(const BundleParts& parts) {
  ScratchDir scratch = TRY(ScratchDir::create(kScratchRoot));
  // The owner can pass through to its own files, and no farther.
  if (parts.owner && ::fchmod(scratch.fd(), 0711) != 0) {
    return fail(system_error("set the mode of", scratch.path().native(), errno));
  }
  const Maker top(TRY(open_path_at(scratch.fd(), ".", O_RDONLY | O_DIRECTORY)), scratch.path().native(), parts.owner);
  TRY(top.directory("state", 0700));
  TRY(top.directory("bundle", 0700));
  const Maker bundle = TRY(top.inside("bundle"));
  TRY(bundle.file("config.json", 0600, parts.config));
  TRY(bundle.directory("rootfs", 0755));
  const Maker root = TRY(bundle.inside("rootfs"));
  for (const ViewEntry& entry : parts.root) TRY(make_entry(root, entry));
  TRY(root.file(std::string(spawn::kInitPath.substr(1)), 0555, parts.init));
  return scratch;
}

// Reads it without a change: umask(2) would set it, for all threads.
std::uint32_t own_umask() {
  constexpr std::uint32_t kUsual = 022;
  constexpr std::string_view kKey = "\nUmask:\t";
  const Result<std::string> status = read_whole_file("/proc/self/status", mebibytes(1));
  if (!status) return kUsual;
  const std::size_t at = status->find(kKey);
  if (at == std::string::npos) return kUsual;
  std::uint32_t umask = kUsual;
  std::from_chars(status->data() + at + kKey.size(), status->data() + status->size(), umask, 8);
  return umask;
}

UserIds outside_of(const Plan& plan) { return plan.run_as.value_or(UserIds{.uid = ::geteuid(), .gid = ::getegid()}); }

std::vector<std::string> description(std::vector<std::string> argv, const std::string& config) {
  for (std::size_t at = 0; at < config.size();) {
    const std::size_t end = config.find('\n', at);
    argv.push_back(config.substr(at, end - at));
    at = end == std::string::npos ? config.size() : end + 1;
  }
  return argv;
}

}  // namespace sallyport::oci
