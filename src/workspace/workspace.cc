#include "sallyport/workspace.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "core/errors.h"
#include "core/text/printable.h"
#include "os/file.h"
#include "os/remove_tree.h"
#include "workspace/impl.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

}  // namespace

Workspace::Workspace(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Workspace::~Workspace() = default;

Result<std::unique_ptr<Workspace>> Workspace::open(WorkspaceOptions options) {
  std::unique_ptr<Impl> impl = TRY(Impl::open(std::move(options)));
  return std::unique_ptr<Workspace>(new Workspace(std::move(impl)));
}

Result<std::vector<WorkspaceInfo>> Workspace::list(const fs::path& state_dir) {
  struct stat info{};
  if (::stat(state_dir.c_str(), &info) != 0 && errno == ENOENT) return std::vector<WorkspaceInfo>();
  const UniqueFd root = TRY(workspace::open_state_dir(state_dir));
  return workspace::list_all(root.get());
}

Status Workspace::discard(const fs::path& state_dir, const std::string& name_or_id) {
  for (const WorkspaceInfo& info : TRY(list(state_dir))) {
    const bool meant = info.name.empty() ? info.id == name_or_id : info.name == name_or_id;
    if (!meant) continue;
    UniqueFd root = TRY(workspace::open_state_dir(state_dir));
    std::optional<workspace::Held> held = TRY(workspace::hold_existing(std::move(root), info.id));
    if (!held) break;
    return remove_tree_at(held->root.get(), held->id);
  }
  return fail(invalid_request("workspace", fmt::format("there is none called '{}'", printable(name_or_id)),
                              "list them to see their names"));
}

const fs::path& Workspace::repo() const { return impl_->about().repo; }
const std::string& Workspace::name() const { return impl_->about().name; }
ByteCount Workspace::quota() const { return ByteCount{impl_->about().quota}; }
WorkspaceMechanism Workspace::mechanism() const { return impl_->about().mechanism; }
Status Workspace::discard() { return impl_->discard(); }

Result<UniqueFd> Workspace::open_file(const fs::path& relative) const { return impl_->view().open_file(relative); }

Result<std::string> Workspace::read_file(const fs::path& relative, ByteCount cap) const {
  const UniqueFd fd = TRY(open_file(relative));
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return fail(system_error("stat", relative.native(), errno));
  // A sparse file can claim any size.
  if (static_cast<std::uint64_t>(info.st_size) > count(cap)) {
    return fail(invalid_request(relative.native(),
                                fmt::format("has {} bytes, more than the {} allowed for it", info.st_size, count(cap)),
                                "raise the cap, or make the file smaller"));
  }
  return read_all(fd.get(), cap, relative.native());
}

Result<FileType> Workspace::type_of(const fs::path& relative) const { return TRY(impl_->view().look(relative)).type; }

Result<std::vector<std::string>> Workspace::list_directory(const fs::path& relative) const {
  return impl_->view().list(relative);
}

}  // namespace sallyport
