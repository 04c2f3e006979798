// The jails of this source tree by name. What each takes and gives: docs/jails.md; the rules: docs/contract.md, C21, C40. Nothing here
// fails: a name that no jail has is refused when a call is made (InvalidRequest).
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace sallyport {

// Which jail stands behind the gate, by its name. kAuto takes the first of GateConfig::auto_jails that works; it never falls
// to kNone. A small value: the set is open, since an embedding program can bring its own (sallyport/jail_port.h).
class JailKind {
 public:
  static constexpr std::size_t kLongest = 31;
  // What is longer is cut, and then names no jail.
  constexpr explicit JailKind(std::string_view name) {
    for (std::size_t i = 0; i < name.size() && i < text_.size(); ++i) text_[i] = name[i];
    size_ = name.size() < text_.size() ? name.size() : text_.size();
  }
  [[nodiscard]] constexpr std::string_view name() const { return {text_.data(), size_}; }
  constexpr bool operator==(const JailKind&) const = default;

  static const JailKind kAuto;
  static const JailKind kNone;
  static const JailKind kNative;
  static const JailKind kBwrap;
  static const JailKind kLandlock;
  static const JailKind kSandboxExec;

 private:
  std::array<char, kLongest + 1> text_{};
  std::size_t size_ = 0;
};
inline constexpr JailKind JailKind::kAuto{"auto"};
inline constexpr JailKind JailKind::kNone{"none"};
inline constexpr JailKind JailKind::kNative{"native"};
inline constexpr JailKind JailKind::kBwrap{"bwrap"};
inline constexpr JailKind JailKind::kLandlock{"landlock"};
inline constexpr JailKind JailKind::kSandboxExec{"sandbox-exec"};
// Those of an OCI runtime, of an image, and of a machine's own kernel, which kAuto tries only where GateConfig::auto_jails says so.
// What a caller of one has to know stands in oci.h, container.h and microvm.h.
inline constexpr JailKind kOciJail{"oci"};                 // built by runc
inline constexpr JailKind kGvisorJail{"gvisor"};           // built by runsc: the tool runs on a kernel of its own
inline constexpr JailKind kContainerJail{"container"};     // a container of podman or docker
inline constexpr JailKind kMicrovmJail{"microvm"};         // a virtual machine, by KVM
inline constexpr JailKind kMicrovmTcgJail{"microvm-tcg"};  // by QEMU's own emulation of a processor: slow

}  // namespace sallyport
