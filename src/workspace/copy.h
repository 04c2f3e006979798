// A private copy of a repo, for jails that cannot mount an overlay, with a manifest of what each file was when it was made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "sallyport/event.h"
#include "sallyport/limits.h"
#include "sallyport/plan.h"
#include "sallyport/result.h"
#include "workspace/meter.h"

namespace sallyport::workspace {

struct CopyRequest {
  int from = -1;  // the repo, readable
  int into = -1;  // the workspace's directory: "copy" and "manifest" are made in it
  ByteCount cap{};
  std::optional<UserIds> owner{};  // whose the copy is to be, when not ours
  EventSink* events = nullptr;
};
struct CopyDone {
  bool reflinked = false;  // every file that has content
};
// FIFOs, sockets and devices are left out, and what we may not read.
[[nodiscard]] Result<CopyDone> copy_repo(const CopyRequest& request);

// Of one file when it was copied: which it was on the host, and which the copy is.
struct CopiedFile {
  std::uint32_t mode = 0;  // with the type
  std::uint64_t inode = 0;
  std::int64_t ctime_ns = 0;
  std::uint64_t host_inode = 0;
  std::int64_t host_ctime_ns = 0;
};
using Manifest = std::unordered_map<std::string, CopiedFile>;  // by path
[[nodiscard]] Result<Manifest> read_manifest(int workspace_directory);
[[nodiscard]] LayerUse copied_use(int workspace_directory);

[[nodiscard]] std::int64_t ctime_ns(const struct stat& info);

}  // namespace sallyport::workspace
