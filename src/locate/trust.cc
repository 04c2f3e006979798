#include "locate/trust.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <deque>
#include <vector>

#include <fmt/format.h>

#include "core/errors.h"
#include "core/view/paths.h"
#include "os/user_namespace.h"

namespace sallyport {
namespace {

constexpr int kMostSymlinks = 40;  // the kernel's MAXSYMLINKS

TrustProblem broken(const std::filesystem::path& where, std::string why, std::string hint) {
  return {.error_number = 0, .where = where.native(), .why = std::move(why), .hint = std::move(hint)};
}

TrustProblem ended(const std::filesystem::path& where, int error_number) {
  return {.error_number = error_number, .where = where.native(), .why = errno_text(error_number), .hint = {}};
}

bool owner_is_trusted(const struct stat& info, const std::filesystem::path& path, const TrustContext& context) {
  if (info.st_uid == 0 || info.st_uid == context.uid) return true;
  return context.unmapped_root == info.st_uid && (path == "/" || is_inside(path, "/usr"));
}

// An ACL may name more users than the group bits admit to; they are then its mask (acl(5)).
bool has_acl(const std::filesystem::path& path) {
  return ::lgetxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) >= 0;
}

bool group_is_trusted(const struct stat& info, const std::filesystem::path& path, const TrustContext& context) {
  const bool private_group = info.st_gid == context.gid && context.gid == context.uid;
  return (info.st_gid == 0 || private_group) && !has_acl(path);
}

// One walk from "/" along a path, by descriptor.
class Walk {
 public:
  Walk(const std::filesystem::path& path, const TrustContext& context) : context_(context) { push_front(path); }

  [[nodiscard]] Trusted<TrustedNode> run() {
    if (auto problem = enter_root()) return std::unexpected(*std::move(problem));
    while (!pending_.empty()) {
      const std::string name = std::move(pending_.front());
      pending_.pop_front();
      if (name == "..") {
        if (parents_.size() > 1) parents_.pop_back();
        continue;
      }
      if (auto problem = step(name)) return std::unexpected(*std::move(problem));
      if (!S_ISDIR(parents_.back().info.st_mode) && !pending_.empty()) {
        return std::unexpected(ended(parents_.back().path, ENOTDIR));
      }
    }
    return std::move(parents_.back());
  }

 private:
  void push_front(const std::filesystem::path& path) {
    std::vector<std::string> names;
    for (const auto& part : path.relative_path()) {
      if (!part.empty() && part != ".") names.push_back(part.native());
    }
    pending_.insert(pending_.begin(), names.begin(), names.end());
  }

  std::optional<TrustProblem> enter_root() {
    TrustedNode root{.fd = UniqueFd(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)), .path = "/"};
    if (!root.fd || ::fstat(root.fd.get(), &root.info) != 0) return ended("/", errno);
    parents_.clear();
    parents_.push_back(std::move(root));
    return judge(parents_.back().info, "/", NodeRole::kPassedThrough, context_);
  }

  std::optional<TrustProblem> step(const std::string& name) {
    TrustedNode& here = parents_.back();
    TrustedNode next{.fd = UniqueFd(::openat(here.fd.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)),
                     .path = here.path / name};
    if (!next.fd || ::fstat(next.fd.get(), &next.info) != 0) return ended(next.path, errno);
    if (S_ISDIR(next.info.st_mode)) {
      if (auto problem = judge(next.info, next.path, NodeRole::kPassedThrough, context_)) return problem;
      parents_.push_back(std::move(next));
      return std::nullopt;
    }
    // A symlink or a file: the directory it was found in decides what it is, so that one is held to the full rule.
    if (auto problem = judge(here.info, here.path, NodeRole::kLookedUpIn, context_)) return problem;
    const bool link = S_ISLNK(next.info.st_mode);
    if (auto problem = judge(next.info, next.path, link ? NodeRole::kSymlink : NodeRole::kFile, context_))
      return problem;
    if (!link) {
      parents_.push_back(std::move(next));
      return std::nullopt;
    }
    return follow(next);
  }

  std::optional<TrustProblem> follow(const TrustedNode& link) {
    if (++symlinks_ > kMostSymlinks) return ended(link.path, ELOOP);
    std::array<char, PATH_MAX> target;
    const ssize_t length = ::readlinkat(link.fd.get(), "", target.data(), target.size());
    if (length <= 0 || static_cast<std::size_t>(length) == target.size()) return ended(link.path, ENAMETOOLONG);
    const std::filesystem::path path(std::string_view(target.data(), static_cast<std::size_t>(length)));
    push_front(path);
    return path.is_absolute() ? enter_root() : std::nullopt;
  }

  const TrustContext& context_;
  std::deque<std::string> pending_;
  std::vector<TrustedNode> parents_;  // "/", "/usr", "/usr/bin", …: where ".." leads, without asking the kernel
  int symlinks_ = 0;
};

Trusted<TrustedNode> walk(const std::filesystem::path& path, const TrustContext& context) {
  if (!path.is_absolute()) {
    return std::unexpected(broken(path, "is not an absolute path", "give absolute directories in the search path"));
  }
  return Walk(path, context).run();
}

}  // namespace

TrustContext TrustContext::current(std::filesystem::path repo) {
  TrustContext context{.uid = ::geteuid(), .gid = ::getegid(), .unmapped_root = std::nullopt, .repo = std::move(repo)};
  struct stat root{};
  if (::stat("/", &root) == 0 && root.st_uid != 0) context.unmapped_root = unmapped_owner();
  return context;
}

std::optional<TrustProblem> judge(const struct stat& info, const std::filesystem::path& path, NodeRole role,
                                  const TrustContext& context) {
  if (!context.repo.empty() && is_inside(path, context.repo)) {
    return broken(path, std::string(kLiesInsideRepo), "install the tool outside of the repo");
  }
  if (!owner_is_trusted(info, path, context)) {
    return broken(path, fmt::format("is owned by uid {}, who could replace it", info.st_uid),
                  "use a directory owned by root or by you");
  }
  if (role == NodeRole::kSymlink) return std::nullopt;  // a symlink's mode means nothing
  const bool sticky = S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0 && role == NodeRole::kPassedThrough;
  if ((info.st_mode & S_IWOTH) != 0 && !sticky) {
    return broken(path, "is writable by every user",
                  fmt::format("run 'chmod o-w {}', or use another one", path.native()));
  }
  if ((info.st_mode & S_IWGRP) != 0 && !sticky && !group_is_trusted(info, path, context)) {
    return broken(path, fmt::format("is writable by group {}", info.st_gid),
                  fmt::format("run 'chmod g-w {}', or use another one", path.native()));
  }
  return std::nullopt;
}

Trusted<TrustedNode> trusted_directory(const std::filesystem::path& path, const TrustContext& context) {
  Trusted<TrustedNode> node = walk(path, context);
  if (!node) return node;
  if (!S_ISDIR(node->info.st_mode)) return std::unexpected(ended(node->path, ENOTDIR));
  if (auto problem = judge(node->info, node->path, NodeRole::kLookedUpIn, context)) {
    return std::unexpected(*std::move(problem));
  }
  return node;
}

Trusted<TrustedNode> trusted_file(const std::filesystem::path& path, const TrustContext& context) {
  Trusted<TrustedNode> node = walk(path, context);
  if (!node) return node;
  if (!S_ISREG(node->info.st_mode)) {
    return std::unexpected(TrustProblem{.error_number = ENOEXEC,
                                        .where = node->path.native(),
                                        .why = "it is not a regular file",
                                        .hint = "remove it, or put the program there"});
  }
  return node;
}

}  // namespace sallyport
