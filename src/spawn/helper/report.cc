// What the helper sends to the owner over the run's own channel, and what a child sends to its server.
#include <sys/resource.h>
#include <sys/socket.h>

#include "spawn/helper/frames.h"
#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {

wire::Report failure_report(const Failure& failure) {
  wire::Report report = {};
  report.kind = wire::ReportKind::kFailed;
  report.stage = failure.stage;
  report.error = failure.error;
  return report;
}

wire::Report exit_report(int wait_status, std::uint32_t flags) {
  struct rusage usage = {};
  sys(__NR_getrusage, long{RUSAGE_CHILDREN}, &usage);
  wire::Report report = {};
  report.kind = wire::ReportKind::kExited;
  report.wait_status = wait_status;
  report.flags = flags;
  wire::put_usage(usage, report);
  return report;
}

long send_with_fds(int socket, const void* bytes, std::size_t size, const int* fds, std::uint32_t fd_count) {
  struct iovec part = {const_cast<void*>(bytes), size};
  constexpr std::size_t kMost = wire::kMaxNetFds > wire::kMaxRequestFds ? wire::kMaxNetFds : wire::kMaxRequestFds;
  static_assert(kMost <= 253);  // SCM_MAX_FD
  alignas(cmsghdr) char passed[CMSG_SPACE(sizeof(int) * kMost)];
  struct msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fd_count > 0) {
    message.msg_control = passed;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
    auto* header = reinterpret_cast<cmsghdr*>(passed);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
    auto* slots = reinterpret_cast<int*>(CMSG_DATA(header));
    for (std::uint32_t i = 0; i < fd_count; ++i) slots[i] = fds[i];
  }
  return sys(__NR_sendmsg, long{socket}, &message, long{MSG_NOSIGNAL});
}

void send_report(int channel, const wire::Report& report, const int* fds, std::uint32_t fd_count) {
  if (channel == kFramedChannel) {
    write_frame(1, wire::FrameKind::kReport, &report, sizeof report);
    return;
  }
  // A failure means that the owner has closed the channel; the supervisor of the run sees that too, and kills.
  send_with_fds(channel, &report, sizeof report, fds, fd_count);
}

void report_started(const Run& run, std::uint32_t applied, long tree) {
  wire::Report started = {};
  started.kind = wire::ReportKind::kStarted;
  started.flags = applied;
  if (run.has(wire::kEngine)) {
    started.uid = static_cast<std::uint32_t>(sys(__NR_getuid));
    started.gid = static_cast<std::uint32_t>(sys(__NR_getgid));
  }
  int fds[2] = {};
  std::uint32_t count = 0;
  if (run.scratch_fd >= 0) fds[count++] = run.scratch_fd;
  if (tree >= 0) {
    fds[count++] = static_cast<int>(tree);
    started.flags |= wire::kTreeShown;
  }
  send_report(run.fds[wire::kFdChannel], started, &fds[0], count);
  for (std::uint32_t i = 0; i < count; ++i) sys(__NR_close, long{fds[i]});
}

long open_tree_pidfd(const Run& run) {
  return run.has(wire::kReportTree) ? sys(__NR_pidfd_open, sys(__NR_getpid), 0L) : kNoTree;
}

void report_end_of_init(int channel, int status, const struct rusage& usage) {
  if (status != 0) {
    wire::Report report = {};
    report.kind = wire::ReportKind::kExited;
    report.flags = wire::kInitDied;
    report.wait_status = status;
    wire::put_usage(usage, report);
    send_report(channel, report, nullptr, 0);
  }
  sys(__NR_close, long{channel});
}

void refuse_request(const Run& request, long error) {
  wire::Report report = failure_report({wire::Stage::kClone, static_cast<int>(-error)});
  report.flags = wire::kNotBuilt;
  if (request.fd_count > wire::kFdChannel) send_report(request.fds[wire::kFdChannel], report, nullptr, 0);
  close_all_but(request, -1);
}

void send_handover(const ChildPlace& place, Handover::What what, const int* fds, std::uint32_t fd_count) {
  const Handover handover = {what, place.number};
  send_with_fds(place.handovers, &handover, sizeof handover, fds, fd_count);
  sys(__NR_close, long{place.handovers});
}

}  // namespace sallyport::spawn::helper
