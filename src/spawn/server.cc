#include "spawn/server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "core/errors.h"
#include "os/memfd.h"
#include "spawn/helper_image.h"
#include "spawn/starting_child.h"

// Symbols of helper_image.S.
extern "C" {
extern const char sallyport_helper_image_begin[];  // NOLINT(readability-identifier-naming)
extern const char sallyport_helper_image_end[];    // NOLINT(readability-identifier-naming)
}

namespace sallyport::spawn {
namespace {

struct SocketPair {
  UniqueFd ours;
  UniqueFd theirs;
};

Result<SocketPair> make_socket_pair() {
  std::array<int, 2> fds{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds.data()) != 0) {
    return fail(system_error("create", "a socket pair", errno));
  }
  return SocketPair{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

Result<UniqueFd> above_fixed_places(UniqueFd fd) {
  if (fd.get() > wire::kControlFd) return fd;
  UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, wire::kControlFd + 1));
  if (!moved) return fail(system_error("duplicate", "a descriptor", errno));
  return moved;
}

class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

void reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
}

// A root caller's extra groups would still open files inside a jail whose init cannot drop them any more. This thread's
// alone, by the system call itself: libc's function would change every thread's. A plain user may not drop its own, since
// a group can also be there to deny.
class NoExtraGroups {
 public:
  NoExtraGroups() {
    if (::geteuid() != 0) return;
    groups_.resize(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
    if (groups_.empty()) return;
    const int count = ::getgroups(static_cast<int>(groups_.size()), groups_.data());
    groups_.resize(static_cast<std::size_t>(std::max(0, count)));
    dropped_ = ::syscall(SYS_setgroups, 0, nullptr) == 0;
  }
  ~NoExtraGroups() {
    if (dropped_) ::syscall(SYS_setgroups, groups_.size(), groups_.data());
  }
  NoExtraGroups(const NoExtraGroups&) = delete;
  NoExtraGroups& operator=(const NoExtraGroups&) = delete;

 private:
  std::vector<gid_t> groups_;
  bool dropped_ = false;
};

Error cannot_start(const StartingChild& child, int error) {
  if (child.in_new_namespaces && !child.at_exec) return setup_failed(stage_name(wire::Stage::kClone), error);
  return system_error("start", "the spawn helper", error,
                      "it runs from a sealed memory file: vm.memfd_noexec must be below 2");
}

long clone_as(wire::HelperKind kind, StartingChild& child) {
  const AllSignalsBlocked blocked;
  if (kind != wire::HelperKind::kOneJail) return clone_starting_child(child);
  child.in_new_namespaces = true;
  const NoExtraGroups dropped;
  return clone_starting_child(child);
}

Result<pid_t> start_helper(UniqueFd control, wire::HelperKind kind, std::size_t ready) {
  UniqueFd memory_file = TRY(sealed_memfd("sallyport-spawn", helper_image(), MemfdUse::kExecutable));
  const UniqueFd image = TRY(above_fixed_places(std::move(memory_file)));
  const UniqueFd theirs = TRY(above_fixed_places(std::move(control)));
  std::string name = "sallyport-spawn";
  std::string what = kind == wire::HelperKind::kOneJail ? fmt::format("o{},{}", ::geteuid(), ::getegid())
                                                        : fmt::format("{}{}", static_cast<char>(kind), ready);
  const std::array<char*, 3> argv = {name.data(), what.data(), nullptr};
  StartingChild child;
  child.control = theirs.get();
  child.image = image.get();
  child.argv = argv.data();
  const long pid = clone_as(kind, child);
  if (pid < 0) return fail(cannot_start(child, static_cast<int>(-pid)));
  if (child.error == 0) return static_cast<pid_t>(pid);
  reap(static_cast<pid_t>(pid));
  return fail(cannot_start(child, child.error));
}

int send_request(int control, std::span<const int> fds) {
  wire::Request request{wire::kMagic, static_cast<std::uint32_t>(fds.size())};
  iovec part{&request, sizeof request};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * wire::kMaxRequestFds)> passed{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = passed.data();
  message.msg_controllen = CMSG_SPACE(fds.size_bytes());
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(fds.size_bytes());
  std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(control, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent < 0 ? errno : 0;
}

std::vector<int> request_fds(const LaunchSpec& spec, int channel, int image, Stdio stdio) {
  std::vector<int> fds = {channel, image, stdio.in, stdio.out, stdio.err};
  if (const auto* bare = std::get_if<BarePlace>(&spec.place)) fds.insert(fds.end(), {bare->exe_fd, bare->cwd_fd});
  fds.insert(fds.end(), spec.cgroup_procs_fds.begin(), spec.cgroup_procs_fds.end());
  fds.insert(fds.end(), spec.passed_fds.begin(), spec.passed_fds.end());
  return fds;
}

}  // namespace

std::string_view helper_image() {
  return {sallyport_helper_image_begin,
          static_cast<std::size_t>(sallyport_helper_image_end - sallyport_helper_image_begin)};
}

SpawnServer::~SpawnServer() {
  const std::scoped_lock lock(mutex_);
  bury();
  for (Spent& init : spent_) {
    init.control.reset();
    reap(init.pid);
  }
}

pid_t SpawnServer::helper_pid() {
  const std::scoped_lock lock(mutex_);
  return pid_;
}

// The helper leaves by itself once everything below it is dead; only then may its pid be forgotten.
void SpawnServer::bury() {
  control_.reset();
  if (pid_ != 0) reap(std::exchange(pid_, 0));
}

Status SpawnServer::start_ahead() {
  const std::scoped_lock lock(mutex_);
  return ensure_running();
}

Status SpawnServer::ensure_running() {
  // A killed helper's children outlive it for a moment, and one of them could still take the request: ask for the helper.
  int status = 0;
  if (pid_ != 0 && ::waitpid(pid_, &status, WNOHANG) == 0) return {};
  pid_ = 0;
  control_.reset();
  SocketPair pair = TRY(make_socket_pair());
  pid_ = TRY(start_helper(std::move(pair.theirs), kind_, ready_));
  control_ = std::move(pair.ours);
  if (kind_ == wire::HelperKind::kTools) return {};
  // Only now, so that the helper makes namespaces while we find out.
  Status told = tell_shape();
  if (!told) bury();
  return told;
}

Status SpawnServer::tell_shape() {
  const UniqueFd image = TRY(sealed_memfd("sallyport-shape", encode(shape()), MemfdUse::kData));
  const int error = send_request(control_.get(), std::array{image.get()});
  if (error == 0) return {};
  return fail(system_error("reach", "the spawn helper", error));
}

const JailShape& SpawnServer::shape() {
  std::call_once(shape_made_, [this] {
    if (make_shape_) shape_ = make_shape_();
  });
  return shape_;
}

Result<Started> SpawnServer::submit(const LaunchSpec& spec, Stdio stdio) {
  if (spec.cgroup_procs_fds.size() > wire::kMaxCgroups || spec.passed_fds.size() > wire::kMaxPassedFds) {
    return fail(system_error("pass", "the run's descriptors to the spawn helper", E2BIG));
  }
  if (kind_ != wire::HelperKind::kTools && !shape().fits(spec)) {
    return fail(system_error("use", "a jail of another shape", EINVAL));
  }
  const UniqueFd image = TRY(sealed_memfd("sallyport-launch", encode(spec, shape()), MemfdUse::kData));
  SocketPair channel = TRY(make_socket_pair());
  const std::vector<int> fds = request_fds(spec, channel.theirs.get(), image.get(), stdio);
  const std::scoped_lock lock(mutex_);
  // A helper that was killed is noticed by the send; the second try has a fresh one.
  for (int attempt = 0;; ++attempt) {
    TRY(ensure_running());
    const int error = send_request(control_.get(), fds);
    if (error == 0) break;
    if (error != EPIPE && error != ECONNRESET) return fail(system_error("reach", "the spawn helper", error));
    bury();
    if (attempt == 1) {
      return fail(system_error("reach", "the spawn helper", error, "it was killed twice in a row; see the kernel log"));
    }
  }
  if (kind_ != wire::HelperKind::kOneJail) return Started{.channel = std::move(channel.ours)};
  spent_.push_back({.control = std::move(control_), .pid = std::exchange(pid_, 0)});
  return Started{.channel = std::move(channel.ours), .init = spent_.back().pid};
}

}  // namespace sallyport::spawn
