// Where this process runs, for advice: a container or a chroot forbids what a host would allow, and each by its own option.
#pragma once

#include <filesystem>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport {

enum class Place {
  kHost,     // or nothing that we recognise
  kNoProc,   // /proc is not mounted
  kOwnJail,  // inside a jail of sallyport's
  kGvisor,   // gVisor's own kernel (runsc)
  kDocker,   // Docker, and what is built on it: GitHub's and GitLab's job containers
  kPodman,
  kContainer,  // another: LXC, systemd-nspawn, Kubernetes with containerd
  kChroot,
};

// `root` is "/" but for tests. Reads a few small files, starts nothing.
[[nodiscard]] Place recognise_place(const std::filesystem::path& root = "/");
// The option that opens there what a jail needs, and what it costs; empty for kHost.
[[nodiscard]] std::string_view advice_for(Place place);

// Whether `proc` is a /proc that shows this process by its own number. It is not when nothing is mounted there, or the /proc of
// another pid namespace. Without a pid namespace of its own a run's processes are found there, and could not be ended otherwise.
[[nodiscard]] bool shows_own_processes(const std::filesystem::path& proc);
// The refusal of a jail, or of none, that has to find them there.
[[nodiscard]] Status check_own_processes_shown(std::string_view jail);

// What of a container keeps a jail from being built, as far as that can be seen without building one.
enum class JailObstacle {
  kNone,
  kFilter,      // a seccomp filter forbids namespaces
  kMaskedProc,  // parts of /proc are covered, so the kernel mounts no fresh one (mount_namespaces(7))
};
// Makes nothing: the kernel is asked for namespaces together with a flag that it refuses, and a filter answers before it does.
[[nodiscard]] JailObstacle find_jail_obstacle();
// Whether the text of /proc/self/mountinfo shows that.
[[nodiscard]] bool has_masked_proc(std::string_view mountinfo);

}  // namespace sallyport
