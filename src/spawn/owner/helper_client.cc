#include "spawn/owner/helper_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
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
#include "spawn/owner/start_helper.h"

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

// Each report then says who sent it, in this process's numbers (unix(7), SO_PASSCRED).
Status show_senders(int channel) {
  const int yes = 1;
  if (::setsockopt(channel, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0) return {};
  return fail(system_error("set up", "the run's channel", errno));
}

// A helper that was asked to exit does so within milliseconds, or somewhat later with thousands of processes below it.
// If it does not, kill it.
void reap(pid_t pid) {
  constexpr int kPatienceMs = 5000;
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  pollfd end{pidfd.get(), POLLIN, 0};
  int ready = 0;
  do {
    ready = pidfd ? ::poll(&end, 1, kPatienceMs) : 0;
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
}

Error cannot_start(const NewHelper& failed) {
  // Every kernel that we support has all these calls; so ENOSYS comes from the filter of an outer jail.
  if (failed.error == ENOSYS) {
    return system_error(
        "start", "the spawn helper", failed.error,
        "this process seems to be in a jail already, sallyport's or a container's, which refuses it: let "
        "the outer call start the tool");
  }
  switch (failed.step) {
    case NewHelper::Step::kSocket:
      return system_error("create", "a socket pair", failed.error);
    case NewHelper::Step::kImage:
      return system_error("create", "the spawn helper's image", failed.error);
    case NewHelper::Step::kNamespaces:
      return setup_failed({.stage = wire::Stage::kClone, .error_number = failed.error, .host_cannot = true});
    case NewHelper::Step::kExec:
      break;
  }
  return system_error("start", "the spawn helper", failed.error,
                      "it runs from a sealed memory file: vm.memfd_noexec must be below 2");
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
  const int in = stdio.in < 0 ? stdio.out : stdio.in;  // the request needs one, though it is not used
  std::vector<int> fds = {channel, image, in, stdio.out, stdio.err};
  if (const auto* place = std::get_if<NoJailPlace>(&spec.place)) fds.insert(fds.end(), {place->exe_fd, place->cwd_fd});
  if (const auto* place = std::get_if<ConfinedPlace>(&spec.place)) {
    fds.insert(fds.end(), {place->exe_fd, place->cwd_fd, place->ruleset_fd});
  }
  fds.insert(fds.end(), spec.cgroup_procs_fds.begin(), spec.cgroup_procs_fds.end());
  fds.insert(fds.end(), spec.passed_fds.begin(), spec.passed_fds.end());
  return fds;
}

}  // namespace

HelperClient::~HelperClient() {
  const std::scoped_lock lock(mutex_);
  reap_helper();
  for (Spent& init : spent_) {
    init.control.reset();
    reap(init.pid);
  }
}

void HelperClient::abandon() {
  const std::scoped_lock lock(mutex_);
  if (pid_ != 0) ::kill(pid_, SIGKILL);
  reap_helper();
}

pid_t HelperClient::helper_pid() {
  const std::scoped_lock lock(mutex_);
  return pid_;
}

// The helper exits by itself once everything below it is dead; only then may we forget its pid.
void HelperClient::reap_helper() {
  control_.reset();
  if (pid_ != 0) reap(std::exchange(pid_, 0));
}

Status HelperClient::start_ahead() {
  const std::scoped_lock lock(mutex_);
  return ensure_running();
}

Status HelperClient::adopt(NewHelper started) {
  pid_ = started.pid;
  control_ = UniqueFd(started.control);
  if (kind_ == wire::HelperKind::kWorkers) return {};
  // Send the shape only now, so that the helper makes namespaces while we work the shape out.
  Status sent = send_shape();
  if (!sent) reap_helper();
  return sent;
}

Status HelperClient::ensure_running() {
  // A killed helper's children outlive it for a moment, and one of them could still take the request: so check the helper.
  int status = 0;
  if (pid_ != 0 && ::waitpid(pid_, &status, WNOHANG) == 0) return {};
  pid_ = 0;
  control_.reset();
  const NewHelper started = start_helper(kind_, static_cast<std::uint32_t>(ready_), as_);
  if (started.pid == 0) return fail(cannot_start(started));
  return adopt(started);
}

Status HelperClient::send_shape() {
  const UniqueFd image = TRY(sealed_memfd("sallyport-shape", encode(shape())));
  const int error = send_request(control_.get(), std::array{image.get()});
  if (error == 0) return {};
  return fail(system_error("reach", "the spawn helper", error));
}

const JailShape& HelperClient::shape() {
  std::call_once(shape_made_, [this] {
    if (make_shape_) shape_ = make_shape_();
  });
  return shape_;
}

Result<Started> HelperClient::submit(const LaunchSpec& spec, Stdio stdio) {
  if (spec.cgroup_procs_fds.size() > wire::kMaxCgroups || spec.passed_fds.size() > wire::kMaxPassedFds) {
    return fail(system_error("pass", "the run's descriptors to the spawn helper", E2BIG));
  }
  if (kind_ != wire::HelperKind::kWorkers && (!shape().fits(spec) || spec.run_as != as_)) {
    return fail(system_error("use", "a jail of another shape", EINVAL));
  }
  const StdinIs stdin_is = stdio.in < 0 ? StdinIs::kNullDevice : StdinIs::kGiven;
  const UniqueFd image = TRY(sealed_memfd("sallyport-launch", encode(spec, shape(), stdin_is)));
  SocketPair channel = TRY(make_socket_pair());
  if (spec.run_as) TRY(show_senders(channel.ours.get()));
  const std::vector<int> fds = request_fds(spec, channel.theirs.get(), image.get(), stdio);
  const std::scoped_lock lock(mutex_);
  // If the helper was killed, the send fails; the second try uses a new helper.
  for (int attempt = 0;; ++attempt) {
    TRY(ensure_running());
    const int error = send_request(control_.get(), fds);
    if (error == 0) break;
    if (error != EPIPE && error != ECONNRESET) return fail(system_error("reach", "the spawn helper", error));
    reap_helper();
    if (attempt == 1) {
      return fail(system_error("reach", "the spawn helper", error, "it was killed twice in a row; see the kernel log"));
    }
  }
  if (kind_ != wire::HelperKind::kOneRun) return Started{.channel = std::move(channel.ours)};
  spent_.push_back({.control = std::move(control_), .pid = std::exchange(pid_, 0)});
  return Started{.channel = std::move(channel.ours), .init = spent_.back().pid};
}

}  // namespace sallyport::spawn
