#include "jails/microvm/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/view/linux_jail.h"
#include "sallyport/limits.h"
#include "spawn/wire/guest.h"
#include "spawn/wire/root_ops.h"
#include "spawn/wire/wrapped.h"

namespace sallyport::microvm {
namespace {

namespace wire = spawn::wire;

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;
constexpr std::uint64_t kGuestsOwn = 256 * kMebibyte;   // kernel, page tables, initramfs, init
constexpr std::uint64_t kUnlimited = 1024 * kMebibyte;  // for a tool without a memory limit

bool is_writable(const ViewEntry& entry) {
  return entry.kind == ViewKind::kOverlay || entry.kind == ViewKind::kAlias ||
         (entry.kind == ViewKind::kBind && entry.access == RepoAccess::kWritable);
}

}  // namespace

Machine machine_for(const Plan& plan, std::span<const ViewEntry> view) {
  // If memory is limited, a full scratch counts as the tool's memory, as in the other jails.
  const std::uint64_t tools = plan.limits.memory ? count(*plan.limits.memory)
                                                 : kUnlimited + count(plan.limits.disk.value_or(kDefaultDiskQuota));
  return {.memory = tools + kGuestsOwn, .writes = std::ranges::any_of(view, is_writable)};
}

std::vector<std::string> qemu_arguments(const Machine& machine) {
  const bool kvm = machine.accelerator == Accelerator::kKvm;
  // quiet: each character on the serial line costs an exit. panic=-1 restarts at once, and -no-reboot turns the restart
  // into an exit.
  std::string line = "console=ttyS0 quiet panic=-1 rdinit=/init";
  if (!kvm && machine.clock_khz != 0) line += fmt::format(" tsc_early_khz={}", machine.clock_khz);
  line += " -- " + spawn::init_argument({.kind = wire::HelperKind::kGuest});
  std::vector<std::string> arguments = {
      "-M", "microvm,acpi=on,rtc=on,isa-serial=on", "-accel", kvm ? "kvm" : "tcg", "-cpu", kvm ? "host" : "max", "-m",
      fmt::format("{}M", (machine.memory + kMebibyte - 1) / kMebibyte), "-nodefaults", "-no-user-config", "-display",
      "none", "-no-reboot",  //
      "-kernel", fmt::format("{}/kernel", kMachineFiles), "-initrd", fmt::format("{}/initramfs", kMachineFiles),
      "-append", line,                                                                                      //
      "-chardev", fmt::format("file,id=console,path=/tmp/{}", kConsoleFile), "-serial", "chardev:console",  //
      "-chardev", "stdio,id=frames,signal=off", "-device", "virtio-serial-device", "-device",
      "virtserialport,chardev=frames,name=frames",  //
      // The jail's own network namespace decides where an address leads.
      "-netdev", "user,id=net,ipv6=off", "-device", "virtio-net-device,netdev=net",  //
      "-fsdev", "local,id=view,path=/,security_model=none,readonly=on,multidevs=remap", "-device",
      fmt::format("virtio-9p-device,fsdev=view,mount_tag={}", wire::kViewTag)};
  if (machine.writes) {
    // Through this share the guest can write only to the jail's writable mounts.
    arguments.insert(arguments.end(),
                     {"-fsdev", "local,id=writable,path=/,security_model=none,multidevs=remap", "-device",
                      fmt::format("virtio-9p-device,fsdev=writable,mount_tag={}", wire::kWritableTag)});
  }
  return arguments;
}

std::vector<ViewEntry> machines_view(std::vector<ViewEntry> view, const MachineFiles& files) {
  for (ViewEntry& entry : view) {
    if (entry.kind == ViewKind::kScratch) entry.content = "size=1m,nr_inodes=4096,mode=1777";
  }
  const auto show = [&view](const std::string& source, const std::string& target) {
    view.push_back({.kind = ViewKind::kBind,
                    .target = target,
                    .source = source,
                    .source_is_directory = false,
                    .make_target = true});
  };
  view.push_back({.kind = ViewKind::kDirectory, .target = kMachineFiles});
  show(files.kernel, fmt::format("{}/kernel", kMachineFiles));
  show(files.initramfs, fmt::format("{}/initramfs", kMachineFiles));
  if (files.accelerator == Accelerator::kKvm) {
    view.push_back({.kind = ViewKind::kDevice,
                    .target = "/dev/kvm",
                    .source = "/dev/kvm",
                    .source_is_directory = false,
                    .make_target = true});
  }
  return view;
}

std::vector<ViewEntry> guests_view(std::vector<ViewEntry> view) {
  for (ViewEntry& entry : view) {
    if (entry.kind == ViewKind::kOverlay) {  // the jail has mounted it
      entry.kind = ViewKind::kBind;
      entry.content.clear();
      entry.state.clear();
    }
    if (entry.kind == ViewKind::kBind) {
      const bool writable = entry.access == RepoAccess::kWritable;
      entry.source = (writable ? wire::kWritablePlace : wire::kViewPlace) + entry.target;
    }
    if (entry.kind == ViewKind::kCopy) entry.source = wire::kViewPlace + entry.target;
    if (entry.kind == ViewKind::kFile && entry.target == "/etc/resolv.conf") {
      // This is QEMU's own resolver, which asks the resolver that the jail's file names.
      entry.content = "nameserver 10.0.2.3\noptions timeout:2 attempts:2\n";
    }
  }
  return view;
}

spawn::LaunchSpec render_guest(const Plan& plan, const GuestInputs& inputs) {
  const std::vector<ViewEntry> view = guests_view(inputs.view);
  spawn::JailPlace jail;
  jail.root_ops = spawn::root_ops(view, [](const std::string&) { return std::nullopt; });
  jail.cwd = plan.cwd.string();
  jail.exe = {.path = inputs.exe};  // in the guest, files do not have the host's identities
  jail.landlock_writable = writable_places(view);
  jail.seccomp = jail_seccomp(plan);
  jail.allow_speculation = plan.speculation == Speculation::kAllowed;
  jail.guest = {.memory = plan.limits.memory ? count(*plan.limits.memory) : 0,
                .pids = plan.limits.pids.value_or(0),
                .network = true,
                .writes = std::ranges::any_of(inputs.view, is_writable)};
  spawn::LaunchSpec spec;
  spec.argv = inputs.argv;
  spec.env = env_texts(jail_env(plan));
  spec.place = std::move(jail);
  spec.limits = inputs.limits;
  return spec;
}

}  // namespace sallyport::microvm
