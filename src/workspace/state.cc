#include "workspace/state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "core/errors.h"
#include "core/json/json.h"
#include "core/text/printable.h"
#include "os/canonical.h"
#include "os/directory.h"
#include "os/file.h"
#include "os/openat2.h"
#include "os/owned_dir.h"
#include "os/remove_tree.h"
#include "os/user_namespace.h"
#include "sallyport/sandboxed_path.h"

namespace sallyport::workspace {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNamed = "named-";
constexpr const char* kAbout = "about.json";
constexpr ByteCount kLargestAbout{64 * 1024};
constexpr std::size_t kLongestName = 64;

bool is_ours_or_roots(const struct stat& info) {
  return info.st_uid == 0 || info.st_uid == ::geteuid() || unmapped_owner() == info.st_uid;
}

// A user who can rename a directory above it decides what a later lookup by path finds.
Status check_ancestors(const fs::path& canonical) {
  for (fs::path above = canonical.parent_path();; above = above.parent_path()) {
    struct stat info{};
    if (::lstat(above.c_str(), &info) != 0) return fail(system_error("stat", above.native(), errno));
    const bool others_write = (info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (info.st_mode & S_ISVTX) == 0;
    if (!is_ours_or_roots(info) || others_write) {
      return fail(invalid_request("state_dir",
                                  fmt::format("{} can be changed by other users", printable(above.native())),
                                  "choose a directory below your own home"));
    }
    if (!above.has_relative_path()) return {};
  }
}

// Resolves the existing part of the path, and makes the rest in it.
Status make_directories(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return {};
  if (path.has_parent_path() && path.parent_path() != path) TRY(make_directories(path.parent_path()));
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return fail(system_error("make", path.native(), errno));
  return {};
}

Result<std::optional<Held>> lock_directory(UniqueFd root, const std::string& id) {
  UniqueFd fd(::openat(root.get(), id.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd && errno == ENOENT) return std::optional<Held>();
  if (!fd) return fail(system_error("open", id, errno));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return fail(invalid_request("workspace", fmt::format("{} is in use by another process", printable(id)),
                                "wait for its run to end, or choose another name"));
  }
  struct stat by_name{};
  struct stat by_fd{};
  const bool still_there = ::fstatat(root.get(), id.c_str(), &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
                           ::fstat(fd.get(), &by_fd) == 0 && by_name.st_ino == by_fd.st_ino;
  if (!still_there) return std::optional<Held>();  // another process discarded it before we had the lock
  return std::optional(Held{.root = std::move(root), .lock = std::move(fd), .id = id});
}

std::optional<WorkspaceMechanism> mechanism_named(std::string_view name) {
  for (const auto one : {WorkspaceMechanism::kAuto, WorkspaceMechanism::kOverlay, WorkspaceMechanism::kCopy}) {
    if (name_of(one) == name) return one;
  }
  return std::nullopt;
}

// A path can hold any bytes, JSON cannot.
std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::optional<std::string> unhex(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  if (text.size() % 2 != 0 || text.find_first_not_of("0123456789abcdef") != std::string_view::npos) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    bytes.push_back(static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1])));
  }
  return bytes;
}

std::optional<About> parse_about(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto text_of = [&json](const char* key) {
    return json.contains(key) && json[key].is_string() ? std::optional(json[key].get<std::string>()) : std::nullopt;
  };
  const auto number_of = [&json](const char* key) {
    return json.contains(key) && json[key].is_number_integer() ? std::optional(json[key].get<std::int64_t>())
                                                               : std::nullopt;
  };
  const auto schema = text_of("schema");
  const auto name = text_of("name");
  const auto repo_hex = text_of("repo_hex");
  const auto repo = repo_hex ? unhex(*repo_hex) : std::nullopt;
  const auto named = text_of("mechanism");
  const auto mechanism = named ? mechanism_named(*named) : std::nullopt;
  const auto device = number_of("repo_device");
  const auto inode = number_of("repo_inode");
  const auto quota = number_of("quota_bytes");
  const auto made = number_of("made_ns");
  if (schema != "sallyport.workspace/1" || !name || !repo || repo->empty() || !mechanism || !device || !inode ||
      !quota || !made) {
    return std::nullopt;
  }
  return About{.name = *name,
               .repo = *repo,
               .repo_device = static_cast<std::uint64_t>(*device),
               .repo_inode = static_cast<std::uint64_t>(*inode),
               .mechanism = *mechanism,
               .reflinked = json.value("reflinked", false),
               .quota = static_cast<std::uint64_t>(*quota),
               .made_ns = *made};
}

}  // namespace

bool is_workspace_name(std::string_view name) {
  const auto is_letter_or_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && name.size() <= kLongestName && is_letter_or_digit(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; });
}

std::string id_of_name(const std::string& name) { return std::string(kNamed) + name; }

Error no_state_dir() {
  return invalid_request("state_dir", "is empty", "set HOME or XDG_STATE_HOME, or name a directory");
}

Result<UniqueFd> open_state_dir(const fs::path& path) {
  if (path.empty()) {
    return fail(no_state_dir());
  }
  std::error_code error;
  TRY(make_directories(fs::absolute(path, error)));
  return open_existing_state_dir(path);
}

Result<UniqueFd> open_existing_state_dir(const fs::path& path) {
  const fs::path canonical = TRY(canonical_directory(path, "state_dir"));
  TRY(check_ancestors(canonical));
  UniqueFd fd = TRY(open_exactly(canonical, O_RDONLY | O_DIRECTORY));
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return fail(system_error("stat", canonical.native(), errno));
  if (info.st_uid != ::geteuid() || (info.st_mode & 0077) != 0) {
    return fail(invalid_request("state_dir", fmt::format("{} is not this user's alone", printable(canonical.native())),
                                "chmod 700 it, or choose another directory"));
  }
  return fd;
}

Result<Held> hold(UniqueFd root, const std::string& name) {
  if (name.empty()) {
    OwnedDir made = TRY(make_owned_dir(root.get(), 0700, "the state directory"));
    return Held{.root = std::move(root), .lock = std::move(made.lock), .id = std::move(made.name)};
  }
  const std::string id = id_of_name(name);
  constexpr int kAttempts = 16;  // another process may discard it each time
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (::mkdirat(root.get(), id.c_str(), 0700) != 0 && errno != EEXIST) {
      return fail(system_error("make", id, errno));
    }
    std::optional<Held> held = TRY(lock_directory(UniqueFd(::fcntl(root.get(), F_DUPFD_CLOEXEC, 3)), id));
    if (held) return *std::move(held);
  }
  return fail(system_error("lock", id, EAGAIN));
}

Result<std::optional<Held>> hold_existing(UniqueFd root, const std::string& id) {
  return lock_directory(std::move(root), id);
}

Status write_about(int directory, const About& about) {
  const Json json = {{"schema", "sallyport.workspace/1"},
                     {"name", about.name},
                     {"repo", printable(about.repo.native())},
                     {"repo_hex", hex(about.repo.native())},
                     {"repo_device", about.repo_device},
                     {"repo_inode", about.repo_inode},
                     {"mechanism", name_of(about.mechanism)},
                     {"reflinked", about.reflinked},
                     {"quota_bytes", about.quota},
                     {"made_ns", about.made_ns}};
  // By rename, so that a reader finds all of it or nothing; a power cut may lose the workspace, never the repo.
  const std::string text = json_dump(json) + "\n";
  const std::string fresh = std::string(kAbout) + ".new";
  const UniqueFd fd = TRY(open_path_at(directory, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
  TRY(write_all(fd.get(), text, fresh));
  if (::renameat(directory, fresh.c_str(), directory, kAbout) != 0) return fail(system_error("write", kAbout, errno));
  return {};
}

Result<std::optional<About>> read_about(int directory) {
  const SandboxedPath root = SandboxedPath::from_fd(UniqueFd(::fcntl(directory, F_DUPFD_CLOEXEC, 3)));
  const Result<std::string> text = root.read_file(kAbout, kLargestAbout);
  if (!text) {
    const auto* const missing = text.error().as<SystemError>();
    if (missing != nullptr && missing->error_number == ENOENT) return std::optional<About>();
    return fail(text.error());
  }
  std::optional<About> about = parse_about(*text);
  if (!about) {
    return fail(invalid_request("workspace", "its description cannot be understood", "discard it"));
  }
  return about;
}

Status sweep_stale(int root) {
  static_cast<void>(TRY(sweep_owned_dirs(root, "the state directory", [](int parent, int, const std::string& name) {
    return remove_tree_at(parent, name);
  })));
  return {};
}

Result<std::vector<WorkspaceInfo>> list_all(int root) {
  std::vector<WorkspaceInfo> found;
  std::vector<std::string> names = TRY(list_directory(root, "the state directory"));
  std::ranges::sort(names);
  for (const std::string& id : names) {
    const bool named = id.starts_with(kNamed) && is_workspace_name(id.substr(kNamed.size()));
    if (!named && !is_owned_dir_name(id, ::geteuid())) continue;
    const UniqueFd fd(::openat(root, id.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd) continue;
    WorkspaceInfo info{.name = named ? id.substr(kNamed.size()) : "", .id = id};
    info.in_use = ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0;
    info.stale = !named && !info.in_use;
    const Result<std::optional<About>> about = read_about(fd.get());
    info.broken = !about || !*about;
    if (!info.broken) {
      info.repo = (*about)->repo;
      info.mechanism = (*about)->mechanism;
      info.quota = ByteCount{(*about)->quota};
    }
    found.push_back(std::move(info));
  }
  return found;
}

}  // namespace sallyport::workspace
