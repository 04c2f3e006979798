#include "core/seccomp/uncounted.h"

#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/seccomp/compile.h"
#include "core/seccomp/processor.h"

namespace sallyport::seccomp {
namespace {

constexpr std::uint16_t kJumpAnyBit = 0x45;  // BPF_JMP | BPF_JSET | BPF_K

// struct seccomp_data, little endian: from byte 16 the arguments, of which the kernel reads the low half.
constexpr std::uint32_t kArguments = 16;
static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t kNetlink = 16;
constexpr std::uint32_t kUdp = 17;
constexpr std::uint32_t kUdpLite = 136;
constexpr std::uint32_t kCork = 1;        // UDP_CORK
constexpr std::uint32_t kMore = 0x8000;   // MSG_MORE
constexpr std::uint32_t kSpliceMore = 4;  // SPLICE_F_MORE

struct Check {
  unsigned argument;
  enum class Test : std::uint8_t { kEquals, kHasAnyOf } test;
  std::uint32_t value;
};
using enum Check::Test;

struct UncountedCall {
  std::uint32_t call;
  std::uint32_t error;
  Check first;
  Check second = {};
  bool two = false;  // both must hold
};

// The kernel reads these arguments as 32 bits, so only their lower half counts.
constexpr auto kRules = std::to_array<UncountedCall>({
    {kSocketCall, EAFNOSUPPORT, {0, kEquals, kNetlink}},
    {kSocketPairCall, EAFNOSUPPORT, {0, kEquals, kNetlink}},
    {kSetSocketOption, ENOPROTOOPT, {1, kEquals, kUdp}, {2, kEquals, kCork}, true},
    {kSetSocketOption, ENOPROTOOPT, {1, kEquals, kUdpLite}, {2, kEquals, kCork}, true},
    {kSendTo, EOPNOTSUPP, {3, kHasAnyOf, kMore}},
    {kSendMessage, EOPNOTSUPP, {2, kHasAnyOf, kMore}},
    {kSendMessages, EOPNOTSUPP, {3, kHasAnyOf, kMore}},
    {kSplice, EINVAL, {5, kHasAnyOf, kSpliceMore}},
});

// Falls through when the condition holds, else jumps over the next `left` instructions.
void append(const Check& condition, std::uint8_t left, std::vector<Instruction>& out) {
  const std::uint32_t offset = kArguments + condition.argument * static_cast<std::uint32_t>(sizeof(std::uint64_t));
  out.push_back({kLoad, 0, 0, offset});
  out.push_back({condition.test == kEquals ? kJumpEqual : kJumpAnyBit, 0, left, condition.value});
}

// One self-contained block; when the rule does not apply, execution goes on after it. It does not check the ABI: the
// program that follows refuses every call of any other ABI.
void append(const UncountedCall& rule, std::vector<Instruction>& out) {
  const std::uint8_t behind_first = rule.two ? 3 : 1;
  out.push_back({kLoad, 0, 0, kNumberAt});
  out.push_back({kJumpEqual, 0, static_cast<std::uint8_t>(behind_first + 2), rule.call});
  append(rule.first, behind_first, out);
  if (rule.two) append(rule.second, 1, out);
  out.push_back({kReturn, 0, 0, kReturnErrno | rule.error});
}

}  // namespace

std::string without_uncounted(std::string_view program) {
  std::vector<Instruction> before;
  for (const UncountedCall& rule : kRules) append(rule, before);
  std::string whole(reinterpret_cast<const char*>(before.data()), before.size() * sizeof(Instruction));
  // Its jumps are relative, so it may stand anywhere.
  return whole.append(program);
}

}  // namespace sallyport::seccomp
