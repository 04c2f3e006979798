// Where this process runs, for advice: a container or a chroot forbids what a host would allow, and each needs a
// different option to allow it.
#pragma once

#include <filesystem>
#include <string_view>

#include "sallyport/jail_kind.h"
#include "sallyport/result.h"

namespace sallyport {

enum class Place {
  kHost,     // or a place that we do not recognise
  kNoProc,   // /proc is not mounted
  kOwnJail,  // inside a jail of sallyport's
  kGvisor,   // gVisor's own kernel (runsc)
  kDocker,   // Docker, and what uses it: GitHub's and GitLab's job containers
  kPodman,
  kContainer,  // another: LXC, systemd-nspawn, Kubernetes with containerd
  kChroot,
};

// `root` is "/" except in tests. Reads a few small files, starts nothing.
[[nodiscard]] Place recognise_place(const std::filesystem::path& root = "/");
// The option that allows there what a jail needs, and its price; empty for kHost.
[[nodiscard]] std::string_view advice_for(Place place);

// True when `proc` is a /proc that shows this process under its own pid. False when nothing is mounted there, or the
// /proc of another pid namespace. A run without its own pid namespace needs this /proc: we find its processes there to
// kill them.
[[nodiscard]] bool shows_own_processes(const std::filesystem::path& proc);
// The refusal for a jail (or for none) that has to find them there.
[[nodiscard]] Status check_own_processes_shown(JailKind jail);

// What in a container prevents a jail, as far as we can see without building one.
enum class JailObstacle {
  kNone,
  kFilter,      // a seccomp filter forbids namespaces
  kMaskedProc,  // parts of /proc are covered, so the kernel mounts no fresh one (mount_namespaces(7))
};
// Makes nothing: it asks the kernel for namespaces together with a flag that the kernel refuses; a filter answers
// first.
[[nodiscard]] JailObstacle find_jail_obstacle();
// True when the text of /proc/self/mountinfo shows kMaskedProc.
[[nodiscard]] bool has_masked_proc(std::string_view mountinfo);

}  // namespace sallyport
