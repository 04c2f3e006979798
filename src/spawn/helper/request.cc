// A request as it arrives: descriptors, one of which is the launch image.
#include <sys/mman.h>
#include <sys/socket.h>

#include "spawn/helper/run.h"
#include "spawn/wire/check_image.h"

namespace sallyport::spawn::helper {
namespace {

// Turns the strings' offsets into pointers. False when one lies outside.
bool relocate(Run& run, const wire::ImageCheck& check, std::uint32_t at, std::uint32_t count) {
  if (!check.has_strings(at, count)) return false;
  auto* slots = reinterpret_cast<std::uint64_t*>(run.at(at));
  for (std::uint32_t i = 0; i < count; ++i) slots[i] += reinterpret_cast<std::uint64_t>(run.image);
  return true;
}

}  // namespace

long receive_with_fds(int socket, void* bytes, std::size_t size, int* fds, std::uint32_t& count, long flags) {
  struct iovec part = {bytes, size};
  alignas(cmsghdr) char passed[CMSG_SPACE(sizeof(int) * wire::kMaxRequestFds)];
  struct msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = passed;
  message.msg_controllen = sizeof passed;
  const long got = sys(__NR_recvmsg, long{socket}, &message, long{MSG_CMSG_CLOEXEC} | flags);
  count = 0;
  const auto* header = reinterpret_cast<const cmsghdr*>(passed);
  if (got <= 0 || message.msg_controllen < sizeof(cmsghdr) || header->cmsg_type != SCM_RIGHTS) return got;
  const auto* received = reinterpret_cast<const int*>(CMSG_DATA(header));
  count = static_cast<std::uint32_t>((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
  for (std::uint32_t i = 0; i < count; ++i) fds[i] = received[i];
  return got;
}

long receive_request(int control, Run& run, long flags) {
  wire::Request request = {};
  const long size = receive_with_fds(control, &request, sizeof request, run.fds, run.fd_count, flags);
  if (size <= 0) return size;
  const bool whole = size == kRequestSize && request.magic == wire::kMagic && run.fd_count == request.fd_count &&
                     run.fd_count >= wire::kFdCommonCount;
  return whole ? size : kIncompleteRequest;
}

int receive_shape(int control) {
  wire::Request request = {};
  int fds[wire::kMaxRequestFds] = {};
  std::uint32_t count = 0;
  const long size = receive_with_fds(control, &request, sizeof request, fds, count, 0);
  return size == kRequestSize && request.magic == wire::kMagic && count == 1 ? fds[0] : -1;
}

void close_all_but(const Run& run, int keep) {
  for (std::uint32_t i = 0; i < run.fd_count; ++i) {
    if (run.fds[i] != keep) sys(__NR_close, long{run.fds[i]});
  }
}

long map_image(Run& run, int fd) {
  const long size = sys(__NR_lseek, long{fd}, 0L, 2L /* SEEK_END */);
  if (size < static_cast<long>(sizeof(wire::Image))) return -22;  // EINVAL
  const long address = sys(__NR_mmap, 0L, size, long{PROT_READ | PROT_WRITE}, long{MAP_PRIVATE}, long{fd}, 0L);
  if (address < 0 && address > -4096) return address;
  return adopt_image(run, address, static_cast<std::uint64_t>(size));
}

long adopt_image(Run& run, long address, std::uint64_t size) {
  if (size < sizeof(wire::Image)) return -22;  // EINVAL
  run.image = reinterpret_cast<wire::Image*>(address);
  const wire::ImageCheck check(*run.image, size);
  const wire::Image& image = *run.image;
  const bool whole = check.has_header() && relocate(run, check, image.argv_at, image.argv_count) &&
                     relocate(run, check, image.env_at, image.env_count) && check.has_the_rest();
  return whole ? 0 : -22;
}

long map_request(Run& run) {
  const long mapped = map_image(run, run.fds[wire::kFdImage]);
  if (mapped < 0) return mapped;
  const std::uint32_t wanted = run.first_cgroup_fd() + run.image->cgroup_count + run.image->passed_count;
  return run.fd_count == wanted ? 0 : -22;  // EINVAL
}

}  // namespace sallyport::spawn::helper
