// A private copy of a repo, for jails that cannot mount an overlay, with a manifest of each file's identity at that
// time.
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
  std::optional<UserIds> owner{};  // the copy's owner, when it is not us
  EventSink* events = nullptr;
};
struct CopyDone {
  bool reflinked = false;  // true if every file with content was reflinked
};
// Leaves out FIFOs, sockets and devices, and what we may not read.
[[nodiscard]] Result<CopyDone> copy_repo(const CopyRequest& request);

// The identities of one file at the time of the copy: on the host, and in the copy.
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
