// Build-time tool: writes the seccomp program of table.h as the bytes of struct sock_filter[], in C++ syntax.
//
// Only the native x86-64 ABI is let through. i386 (int 0x80) and x32 calls are ENOSYS as a whole: a second table for them
// would be a second thing to keep right, and nothing this gate starts is a 32-bit program (docs/adr/0009).
#include <seccomp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "core/seccomp/table.h"

namespace sallyport::seccomp {
namespace {

void must(int result, const char* what) {
  if (result >= 0) return;
  std::fprintf(stderr, "seccomp generator: %s: error %d\n", what, -result);
  std::_Exit(1);
}

void deny_calls(scmp_filter_ctx filter) {
  for (const DeniedCall& call : kDenied) {
    must(seccomp_rule_add(filter, SCMP_ACT_ERRNO(static_cast<unsigned>(call.error)), call.number, 0), call.name);
  }
}

void deny_namespace_clones(scmp_filter_ctx filter) {
  // A filter cannot say "any of these bits", so it says each of them.
  for (unsigned long bit = 1; bit <= kNamespaceFlags; bit <<= 1U) {
    if ((kNamespaceFlags & bit) == 0) continue;
    must(seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, bit, bit)),
         "clone");
  }
}

// The kernel reads ioctl's request and fcntl's command as 32 bits; so does this.
void deny_second_argument(scmp_filter_ctx filter, int call, unsigned value, int error, const char* name) {
  must(seccomp_rule_add(filter, SCMP_ACT_ERRNO(static_cast<unsigned>(error)), call, 1,
                        SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffUL, value)),
       name);
}

void deny_requests(scmp_filter_ctx filter) {
  for (const DeniedIoctl& ioctl : kDeniedIoctls) {
    deny_second_argument(filter, SCMP_SYS(ioctl), ioctl.request, EPERM, ioctl.name);
  }
  for (const DeniedFcntl& fcntl : kDeniedFcntls) {
    deny_second_argument(filter, SCMP_SYS(fcntl), fcntl.command, fcntl.error, fcntl.name);
  }
}

void deny_families(scmp_filter_ctx filter) {
  const auto deny = [filter](int call, scmp_arg_cmp family) {
    must(seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), call, 1, family), "socket");
  };
  // The kernel takes an int; a caller's set upper half only makes the number larger here, which is refused too.
  const unsigned last = *std::ranges::max_element(kAllowedFamilies);
  for (const int call : {SCMP_SYS(socket), SCMP_SYS(socketpair)}) {
    deny(call, SCMP_A0(SCMP_CMP_GT, last));
    for (unsigned family = 0; family < last; ++family) {
      if (std::ranges::find(kAllowedFamilies, family) == kAllowedFamilies.end())
        deny(call, SCMP_A0(SCMP_CMP_EQ, family));
    }
  }
  // Of netlink protocol 0, NETLINK_ROUTE, is left; audit, connector, crypto, kobject events, netfilter … are not.
  must(seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPROTONOSUPPORT), SCMP_SYS(socket), 2,
                        SCMP_A0(SCMP_CMP_EQ, kNetlinkFamily), SCMP_A2(SCMP_CMP_NE, 0)),
       "netlink");
}

void write_program(scmp_filter_ctx filter, const char* path) {
  FILE* file = std::tmpfile();
  if (file == nullptr) must(-1, "temporary file");
  must(seccomp_export_bpf(filter, fileno(file)), "export");
  must(std::fseek(file, 0, SEEK_SET), "rewind");
  std::vector<unsigned char> bytes(1U << 20U);
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  std::fclose(file);
  FILE* out = std::fopen(path, "w");
  if (out == nullptr) must(-1, path);
  for (std::size_t i = 0; i < bytes.size(); ++i) std::fprintf(out, "0x%02x,%c", bytes[i], i % 16 == 15 ? '\n' : ' ');
  if (std::fclose(out) != 0) must(-1, path);
}

int generate(int argc, char** argv) {
  if (argc != 2) must(-1, "usage: generator FILE");
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (filter == nullptr) must(-1, "init");
  must(seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS)), "bad architecture");
  must(seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2), "binary tree");
  deny_calls(filter);
  deny_namespace_clones(filter);
  deny_requests(filter);
  deny_families(filter);
  write_program(filter, argv[1]);
  seccomp_release(filter);
  return 0;
}

}  // namespace
}  // namespace sallyport::seccomp

int main(int argc, char** argv) { return sallyport::seccomp::generate(argc, argv); }
