#include "locate/tool_locator.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/errors.h"
#include "locate/shebang.h"
#include "locate/trust.h"
#include "locate/version_managers.h"
#include "os/file.h"

namespace sallyport {
namespace {

// A file that passed the rules of trust.h, open, hashed, and with its first bytes at hand.
struct Opened {
  UniqueFd fd;
  BinaryIdentity identity;
  std::string head;
  std::string found_at;     // before symlinks were followed
  bool was_stood_in_for{};  // a version manager has the name in the search path
};

class Locator {
 public:
  Locator(const ToolEntry& tool, std::span<const std::filesystem::path> search_path, const std::filesystem::path& repo,
          HashCache& hashes)
      : tool_(tool), search_path_(search_path), context_(TrustContext::current(repo)), hashes_(hashes) {}

  [[nodiscard]] Result<PinnedTool> run() const {
    return search(tool_.name, [this](Opened file) { return pin(std::move(file)); });
  }

 private:
  // The first candidate that `accept` takes; else why the first one was refused; else ToolMissingError.
  template <class Accept>
  [[nodiscard]] std::invoke_result_t<Accept, Opened> search(const std::string& name, Accept accept) const {
    std::optional<Error> refused;
    for (const std::filesystem::path& directory : search_path_) {
      std::optional<Result<Opened>> found = look_in(directory, name);
      if (!found) continue;
      if (!*found) {
        if (!refused) refused = std::move(*found).error();
        continue;
      }
      auto accepted = accept(**std::move(found));
      if (accepted) return accepted;
      if (!refused) refused = std::move(accepted).error();
    }
    if (refused) return fail(*std::move(refused));
    return fail(tool_missing(name, tool_.install_hint));
  }

  // nullopt: no such name there. A bad directory is only asked whether it has the name, for the error message.
  [[nodiscard]] std::optional<Result<Opened>> look_in(const std::filesystem::path& directory,
                                                      const std::string& name) const {
    struct stat ignored{};
    if (::lstat((directory / name).c_str(), &ignored) != 0) return std::nullopt;
    const Trusted<TrustedNode> trusted = trusted_directory(directory, context_);
    if (!trusted) return fail(refusal(trusted.error()));
    if (const auto behind = behind_version_manager(trusted->path / name, name)) {
      Result<Opened> real = open_trusted(*behind);
      if (real) real->found_at = behind->native();
      if (real) real->was_stood_in_for = true;
      return real;
    }
    Result<Opened> file = open_trusted(trusted->path / name);
    if (file) file->found_at = (directory / name).native();
    return file;
  }

  [[nodiscard]] Error refusal(const TrustProblem& problem) const {
    if (problem.error_number == 0) {
      return untrusted_tool(tool_.name, problem.where, fmt::format("{} {}", problem.where, problem.why), problem.hint);
    }
    const std::string_view hint = problem.error_number == ENOENT  ? "a symlink leads nowhere; install the tool again"
                                  : problem.error_number == ELOOP ? "a symlink leads back to itself; install it again"
                                                                  : std::string_view(problem.hint);
    return tool_not_runnable(tool_.name, problem.where, problem.why, hint);
  }

  [[nodiscard]] Result<Opened> open_trusted(const std::filesystem::path& path) const {
    const Trusted<TrustedNode> node = trusted_file(path, context_);
    if (!node) return fail(refusal(node.error()));
    const std::string& where = node->path.native();
    if (::faccessat(node->fd.get(), "", X_OK, AT_EMPTY_PATH | AT_EACCESS) != 0) {
      return fail(tool_not_runnable(tool_.name, where, fmt::format("not executable: {}", errno_text(errno)),
                                    fmt::format("run 'chmod +x {}', and check the mount's noexec option", where)));
    }
    Result<UniqueFd> fd = open_path(node->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (!fd) {
      return fail(tool_not_runnable(tool_.name, where, fmt::format("it cannot be identified: {}", fd.error().message),
                                    "give this user read permission on the program"));
    }
    struct stat opened{};
    if (::fstat(fd->get(), &opened) != 0) return fail(system_error("stat", where, errno));
    // The open file is the judged file: from here on the name does not matter.
    if (opened.st_dev != node->info.st_dev || opened.st_ino != node->info.st_ino) {
      return fail(system_error("open", where, EAGAIN, "the program was replaced just now; try again"));
    }
    return identify(*std::move(fd), where);
  }

  [[nodiscard]] Result<Opened> identify(UniqueFd fd, const std::string& path) const {
    const HashCache::Entry hashed = TRY(hashes_.sha256_of(fd.get(), path));
    std::array<char, kMagicBytes> head{};
    const ssize_t got = ::pread(fd.get(), head.data(), head.size(), 0);
    if (got < 0) return fail(system_error("read", path, errno));
    return Opened{.fd = std::move(fd),
                  .identity = {.path = path,
                               .device = hashed.stamp.device,
                               .inode = hashed.stamp.inode,
                               .size = hashed.stamp.size,
                               .mtime_ns = hashed.stamp.mtime_ns,
                               .sha256 = hashed.sha256},
                  .head = std::string(head.data(), static_cast<std::size_t>(got)),
                  .found_at = path};
  }

  [[nodiscard]] Result<PinnedTool> pin(Opened file) const {
    if (tool_.sha256 && *tool_.sha256 != file.identity.sha256) {
      return fail(untrusted_tool(tool_.name, file.identity.path,
                                 fmt::format("sha256 is {}, the policy pins {}", file.identity.sha256, *tool_.sha256),
                                 "install the pinned version, or update the policy's sha256"));
    }
    switch (kind_of(file.head)) {
      case FileKind::kElf: {
        std::string exec_path = file.identity.path;
        std::vector<std::filesystem::path> names = {file.found_at};
        return PinnedTool{
            .exe = std::move(file.fd),
            .binary = std::move(file.identity),
            .interpreters = {},
            // By its bare name Python would find another one in the search path, and take that one's modules.
            .argv0 = file.was_stood_in_for ? file.found_at : tool_.name,
            .argv_prefix = {},
            .exec_path = std::move(exec_path),
            .names = std::move(names)};
      }
      case FileKind::kScript:
        return pin_script(std::move(file));
      case FileKind::kOther:
        break;
    }
    return fail(tool_not_runnable(tool_.name, file.identity.path, "it is neither an ELF program nor a #! script",
                                  "install the tool for this machine"));
  }

  [[nodiscard]] Result<PinnedTool> pin_script(Opened script) const {
    ShebangParse parse = parse_shebang(script.head);
    if (!parse.shebang) {
      return fail(tool_not_runnable(tool_.name, script.identity.path, parse.problem,
                                    "start the script with '#!' and the absolute path of its interpreter"));
    }
    Opened interpreter = TRY(find_interpreter(*parse.shebang, script));
    // The interpreter opens the script by its path, which no descriptor can spare it (node and python look beside it
    // for their modules): the directories on that path were judged, so only root or we could swap it.
    std::vector<std::string> prefix = std::move(parse.shebang->arguments);
    prefix.push_back(script.identity.path);
    std::string exec_path = interpreter.identity.path;
    std::vector<std::filesystem::path> names = {script.found_at, interpreter.found_at};
    if (!parse.shebang->by_name) names.emplace_back(parse.shebang->interpreter);
    return PinnedTool{.exe = std::move(interpreter.fd),
                      .binary = std::move(script.identity),
                      .interpreters = {std::move(interpreter.identity)},
                      .argv0 = std::move(interpreter.found_at),
                      .argv_prefix = std::move(prefix),
                      .exec_path = std::move(exec_path),
                      .names = std::move(names)};
  }

  [[nodiscard]] Result<Opened> find_interpreter(const Shebang& shebang, const Opened& script) const {
    const auto must_be_elf = [&](Opened found) -> Result<Opened> {
      if (kind_of(found.head) == FileKind::kElf) return found;
      return fail(tool_not_runnable(tool_.name, script.identity.path,
                                    fmt::format("its interpreter {} is not an ELF program", found.identity.path),
                                    "name a real interpreter, not another script, in its #! line"));
    };
    if (!shebang.by_name) {
      Opened found = TRY(open_trusted(shebang.interpreter));
      found.found_at = own_name(shebang.interpreter);
      return must_be_elf(std::move(found));
    }
    Result<Opened> found = search(shebang.interpreter, must_be_elf);
    if (found || found.error().as<ToolMissingError>() == nullptr) return found;
    return fail(
        tool_not_runnable(tool_.name, script.identity.path,
                          fmt::format("its interpreter '{}' is not in the trusted search path", shebang.interpreter),
                          fmt::format("install {}, or add its directory to the search path", shebang.interpreter)));
  }

  // As the #! line has it, but by its directory's real place. A venv's bin/python is a symlink, and Python looks for
  // pyvenv.cfg beside the name it was started by.
  static std::string own_name(const std::string& interpreter) {
    std::error_code error;
    const std::filesystem::path written(interpreter);
    const std::filesystem::path directory = std::filesystem::canonical(written.parent_path(), error);
    return error ? interpreter : (directory / written.filename()).native();
  }

  const ToolEntry& tool_;
  std::span<const std::filesystem::path> search_path_;
  TrustContext context_;
  HashCache& hashes_;
};

}  // namespace

Result<PinnedTool> locate(const ToolEntry& tool, std::span<const std::filesystem::path> search_path,
                          const std::filesystem::path& repo, HashCache& hashes) {
  return Locator(tool, search_path, repo, hashes).run();
}

}  // namespace sallyport
