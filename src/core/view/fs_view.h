// The file system a jailed tool sees, as a list of plain steps, parents before children. Every jail renders the
// same list, so they show the same files: system read-only, homes and /run empty, a private /tmp, /dev and /proc, a
// reduced /etc, the repo at its own path (tools print paths) and at /work, and what the caller added.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "sallyport/limits.h"
#include "sallyport/plan.h"
#include "sallyport/result.h"

namespace sallyport {

inline constexpr std::string_view kJailRepo = "/work";
inline constexpr std::string_view kJailScratch = "/tmp/probe";
inline constexpr std::string_view kJailHome = "/tmp/home";
inline constexpr std::string_view kJailMqueue = "/dev/mqueue";

// A host path: canonical, and whether it is a directory.
struct HostPath {
  std::string path{};
  bool is_directory = true;
};

// Facts about the host's root that do not change between runs; collected once (os/host_layout.h).
struct HostLayout {
  struct Link {
    std::string path{};
    std::string text{};
  };
  std::vector<std::string> system_directories;  // "/usr", "/opt": bound read-only
  std::vector<Link> system_links;               // "/bin" -> "usr/bin"
  std::vector<HostPath> etc;                    // the parts of /etc that programs need: bound read-only
  std::vector<Link> etc_links;                  // "/etc/localtime" -> "/usr/share/zoneinfo/UTC"
  std::vector<std::string> etc_files;           // small files: copied when a jail is built
  std::vector<HostPath> proc_masks;             // parts of /proc that show or do more than a tool needs: hidden
  bool has_mqueue = false;                      // this kernel has POSIX message queues
};

enum class ViewKind {
  kDirectory,  // in our own root, never in a bind
  kSymlink,    // target -> source
  kFile,       // content
  kCopy,       // a copy of host file source, when it can be read
  kBind,       // host path source on target
  kDevice,     // host device node source on target
  kScratch,    // the size-limited tmpfs for everything writable
  kShared,     // target is directory source of that tmpfs: another tmpfs would have another budget
  kProc,
  kDevpts,
  kMqueue,   // the jail's own message queues
  kMask,     // hide target, when it exists
  kOverlay,  // target is overlayfs over host directory source, with its upper layer in host directory state
  kAlias,    // target is the jail's own directory source, shown a second time
};

struct ViewEntry {
  ViewKind kind{};
  std::string target{};  // absolute, inside
  std::string source{};
  std::string content{};
  std::string state{};
  std::uint32_t mode = 0755;
  RepoAccess access = RepoAccess::kReadOnly;
  bool source_is_directory = true;
  bool make_target = false;  // the mount point is a file that must be created first
  bool of_base = false;      // see HostRoot: only this host's root chose it
  bool of_caller = false;    // at a place the caller chose
  bool no_exec = false;      // nothing can be executed from there
  bool operator==(const ViewEntry&) const = default;
};

// The parts of the plan that decide the view. Every path is canonical.
struct ViewInputs {
  std::string repo{};
  RepoAccess repo_access = RepoAccess::kReadOnly;
  std::vector<PrivateLayer> layers{};
  std::vector<HostPath> read_only{};
  std::vector<HostPath> read_write{};
  std::vector<HostPath> hidden{};   // below one of these or the repo
  std::vector<HostPath> no_exec{};  // likewise
  std::vector<HostPath> pinned{};  // directories in writable places that must keep their name, so each is a mount point
  std::vector<HostPath> tool_files{};     // the executable and its interpreter, when outside the system directories
  std::vector<HostLayout::Link> links{};  // names that the caller, or the tool, has for something shown
  ByteCount disk = kDefaultDiskQuota;
  std::string ca_bundle{};  // at kJailCaBundle; empty: none
};

// A host's layout, with the first entries, which all its views share. Made once, used by every run.
struct HostRoot {
  explicit HostRoot(HostLayout found);
  HostLayout layout;
  std::vector<ViewEntry> base;
};

// Refuses paths that would undo the jail: a repo or extra that is "/", holds a system directory, or lies in /proc, /sys, /dev.
[[nodiscard]] Result<std::vector<ViewEntry>> file_system_view(const ViewInputs& inputs, const HostRoot& host);

// Paths inside that the tool may write to, for a second lock such as Landlock.
[[nodiscard]] std::vector<std::string> writable_places(std::span<const ViewEntry> view);

// True when that lock also protects everything read-only. Its rules cover whole directories, so a writable place also
// opens what is shown read-only inside it: a repo below /tmp.
[[nodiscard]] bool writable_places_hold_nothing_protected(std::span<const ViewEntry> view);

// Refuses places of the kernel, and directories that hold what the jail controls.
[[nodiscard]] Status check_places(const ViewInputs& inputs, const HostLayout& host);
// Refuses the whole host as a repo or an extra path.
[[nodiscard]] Status check_not_whole_host(std::string_view field, const std::string& path);

}  // namespace sallyport
