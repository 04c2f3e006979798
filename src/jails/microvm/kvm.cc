#include <fcntl.h>
#include <linux/kvm.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "core/errors.h"
#include "jails/microvm/kernel.h"
#include "jails/microvm/machine.h"
#include "sallyport/unique_fd.h"

namespace sallyport::microvm {
namespace {

constexpr std::size_t kGuestPage = 4096;
constexpr const char* kKvmHint =
    "let your user use /dev/kvm (the group kvm), or ask for the jail microvm-tcg, which emulates the processor";

class Mapping {
 public:
  Mapping(int fd, std::size_t size)
      : size_(size),
        at_(::mmap(nullptr, size, PROT_READ | PROT_WRITE, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0)) {}
  ~Mapping() {
    if (*this) ::munmap(at_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  explicit operator bool() const { return at_ != MAP_FAILED; }
  [[nodiscard]] void* get() const { return at_; }

 private:
  const std::size_t size_;
  void* const at_;
};

Status no(const char* why) { return fail(jail_unavailable(kMicrovmJail, why, kKvmHint)); }

// Runs the guest in real mode from the first byte of its memory, which is hlt.
bool start_at_zero(int processor) {
  kvm_sregs special{};
  if (::ioctl(processor, KVM_GET_SREGS, &special) != 0) return false;
  special.cs.base = 0;
  special.cs.selector = 0;
  kvm_regs general{};
  general.rflags = 2;
  return ::ioctl(processor, KVM_SET_SREGS, &special) == 0 && ::ioctl(processor, KVM_SET_REGS, &general) == 0;
}

}  // namespace

Status try_kvm() {
  const UniqueFd kvm(::open("/dev/kvm", O_RDWR | O_CLOEXEC));
  if (!kvm) return no(errno == ENOENT ? "there is no /dev/kvm" : "/dev/kvm cannot be opened");
  if (::ioctl(kvm.get(), KVM_GET_API_VERSION, 0) != KVM_API_VERSION) return no("/dev/kvm speaks another version");
  const UniqueFd machine(::ioctl(kvm.get(), KVM_CREATE_VM, 0));
  if (!machine) return no("/dev/kvm makes no machine");
  const Mapping memory(-1, kGuestPage);
  if (!memory) return fail(system_error("map", "a page", errno));
  constexpr unsigned char kHalt = 0xf4;
  std::memset(memory.get(), kHalt, kGuestPage);
  kvm_userspace_memory_region region{};
  region.memory_size = kGuestPage;
  region.userspace_addr = reinterpret_cast<std::uintptr_t>(memory.get());
  if (::ioctl(machine.get(), KVM_SET_USER_MEMORY_REGION, &region) != 0) return no("/dev/kvm takes no memory");
  const UniqueFd processor(::ioctl(machine.get(), KVM_CREATE_VCPU, 0));
  const int size = ::ioctl(kvm.get(), KVM_GET_VCPU_MMAP_SIZE, 0);
  if (!processor || size < static_cast<int>(sizeof(kvm_run))) return no("/dev/kvm makes no processor");
  const Mapping run(processor.get(), static_cast<std::size_t>(size));
  if (!run || !start_at_zero(processor.get()) || ::ioctl(processor.get(), KVM_RUN, 0) != 0 ||
      static_cast<const kvm_run*>(run.get())->exit_reason != KVM_EXIT_HLT) {
    return no("/dev/kvm runs no guest here");
  }
  return {};
}

}  // namespace sallyport::microvm
