// Where this process runs, for advice: a container or a chroot forbids what a host would allow, and each by its own option.
#pragma once

#include <filesystem>

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

}  // namespace sallyport
