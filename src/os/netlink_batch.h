// nf_tables' rules, expression by expression, and the transaction that holds them. See nft(8) for what each one means.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "os/netlink_abi.h"
#include "os/netlink_message.h"

namespace sallyport::nft {

namespace abi = netlink_abi;

inline constexpr std::string_view kTableText = "sallyport";

// nft's own headers name the first 32-bit register 8; 1 is the first of the older, 128-bit ones, which all kernels
// have.
inline constexpr std::uint32_t kScratchRegister = abi::kFirstRegister;

inline std::uint32_t be32(std::uint32_t value) { return big_endian(value); }

// Adds one expression to a rule's list.
template <class Fill>
void expression(NetlinkMessage& rule, std::string_view name, const Fill& fill) {
  rule.nest(abi::kListElement, [&](NetlinkMessage& element) {
    element.text(abi::kExpressionName, name).nest(abi::kExpressionData, fill);
  });
}

inline void load_meta(NetlinkMessage& rule, std::uint32_t key) {
  expression(rule, "meta", [&](NetlinkMessage& m) {
    m.value(abi::kMetaRegister, be32(kScratchRegister)).value(abi::kMetaKey, be32(key));
  });
}

inline void load_payload(NetlinkMessage& rule, std::uint32_t base, std::uint32_t offset, std::uint32_t size) {
  expression(rule, "payload", [&](NetlinkMessage& m) {
    m.value(abi::kPayloadRegister, be32(kScratchRegister)).value(abi::kPayloadBase, be32(base));
    m.value(abi::kPayloadOffset, be32(offset)).value(abi::kPayloadLength, be32(size));
  });
}

template <class T>
void compare(NetlinkMessage& rule, std::uint32_t operation, const T& data) {
  expression(rule, "cmp", [&](NetlinkMessage& m) {
    m.value(abi::kCompareRegister, be32(kScratchRegister)).value(abi::kCompareOperation, be32(operation));
    m.nest(abi::kCompareData, [&](NetlinkMessage& value) { value.value(abi::kDataValue, data); });
  });
}

template <class T>
void must_equal(NetlinkMessage& rule, const T& data) {
  compare(rule, abi::kCompareEqual, data);
}

// Keeps the bits of the register that `mask` has.
template <class T>
void keep_bits(NetlinkMessage& rule, const T& mask) {
  expression(rule, "bitwise", [&](NetlinkMessage& m) {
    m.value(abi::kBitwiseSource, be32(kScratchRegister)).value(abi::kBitwiseTarget, be32(kScratchRegister));
    m.value(abi::kBitwiseLength, be32(sizeof mask));
    m.nest(abi::kBitwiseMask, [&](NetlinkMessage& value) { value.value(abi::kDataValue, mask); });
    m.nest(abi::kBitwiseXor, [&](NetlinkMessage& value) { value.value(abi::kDataValue, T{}); });
  });
}

inline void decide(NetlinkMessage& rule, std::uint32_t code, std::string_view chain = {}) {
  expression(rule, "immediate", [&](NetlinkMessage& m) {
    m.value(abi::kImmediateRegister, be32(abi::kVerdictRegister));
    m.nest(abi::kImmediateData, [&](NetlinkMessage& data) {
      data.nest(abi::kDataVerdict, [&](NetlinkMessage& verdict) {
        verdict.value(abi::kVerdictCode, be32(code));
        if (!chain.empty()) verdict.text(abi::kVerdictChain, chain);
      });
    });
  });
}
inline void accept(NetlinkMessage& rule) { decide(rule, abi::kAcceptVerdict); }
inline void drop(NetlinkMessage& rule) { decide(rule, abi::kDropVerdict); }
inline void go_to(NetlinkMessage& rule, std::string_view chain) { decide(rule, abi::kGotoVerdict, chain); }

inline void redirect_to(NetlinkMessage& rule, std::uint16_t port) {
  expression(rule, "immediate", [&](NetlinkMessage& m) {
    m.value(abi::kImmediateRegister, be32(kScratchRegister));
    m.nest(abi::kImmediateData, [&](NetlinkMessage& data) { data.value(abi::kDataValue, big_endian(port)); });
  });
  expression(rule, "redir", [](NetlinkMessage& m) { m.value(abi::kRedirectPort, be32(kScratchRegister)); });
}

// Sends the packet's first bytes, at once, to the listeners of `group`.
inline void show(NetlinkMessage& rule, std::uint16_t group, std::uint32_t bytes) {
  expression(rule, "log", [&](NetlinkMessage& m) {
    m.value(abi::kLogGroup, big_endian(group)).value(abi::kLogSnapLength, be32(bytes));
    m.value(abi::kLogThreshold, big_endian(std::uint16_t{1}));
  });
}

inline void reject(NetlinkMessage& rule, std::uint32_t type, std::uint8_t icmp_code = 0) {
  expression(rule, "reject", [&](NetlinkMessage& m) {
    m.value(abi::kRejectType, be32(type));
    if (type != abi::kRejectByReset) m.value(abi::kRejectCode, icmp_code);
  });
}

inline void only_family(NetlinkMessage& rule, std::uint8_t family) {
  load_meta(rule, abi::kMetaFamily);
  must_equal(rule, family);
}

inline void only_protocol(NetlinkMessage& rule, std::uint8_t protocol) {
  load_meta(rule, abi::kMetaTransport);
  must_equal(rule, protocol);
}

// Addresses that begin with these bytes.
template <std::uint8_t Family, std::size_t Size>
struct Prefix {
  std::array<std::uint8_t, Size> bytes{};
};
template <std::size_t Size>
using PrefixV4 = Prefix<abi::kNetfilterV4, Size>;
template <std::size_t Size>
using PrefixV6 = Prefix<abi::kNetfilterV6, Size>;

inline constexpr PrefixV4<1> kV4LoopbackNet{{127}};
inline constexpr PrefixV6<16> kV6Loopback{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

template <std::uint8_t Family>
void load_destination(NetlinkMessage& rule, std::uint32_t size) {
  constexpr std::uint32_t kOffset = Family == abi::kNetfilterV4 ? 16 : 24;
  only_family(rule, Family);
  load_payload(rule, abi::kNetworkHeader, kOffset, size);
}

template <std::uint8_t Family, std::size_t Size>
void only_to(NetlinkMessage& rule, const Prefix<Family, Size>& prefix) {
  load_destination<Family>(rule, Size);
  must_equal(rule, prefix.bytes);
}

inline void only_port_at(NetlinkMessage& rule, std::uint8_t protocol, std::uint32_t offset, std::uint16_t port) {
  only_protocol(rule, protocol);
  load_payload(rule, abi::kTransportHeader, offset, sizeof port);
  must_equal(rule, big_endian(port));
}
inline void only_from_port(NetlinkMessage& rule, std::uint8_t protocol, std::uint16_t port) {
  only_port_at(rule, protocol, 0, port);
}
inline void only_to_port(NetlinkMessage& rule, std::uint8_t protocol, std::uint16_t port) {
  only_port_at(rule, protocol, 2, port);
}

// Messages of one transaction, numbered in order.
class Batch {
 public:
  Batch() { add_border(abi::kBatchBegin); }

  void add_table() {
    add(abi::kNewTable, 0, [](NetlinkMessage& m) { m.text(abi::kTableName, kTableText); });
  }
  // A chain for packets that leave a process of this namespace; accepts what no rule decides.
  void add_hooked_chain(std::string_view name, std::string_view type, std::int32_t priority) {
    add(abi::kNewChain, 0, [&](NetlinkMessage& m) {
      m.text(abi::kChainTable, kTableText).text(abi::kChainName, name);
      m.nest(abi::kChainHook, [&](NetlinkMessage& hook) {
        hook.value(abi::kHookNumber, be32(abi::kHookLocalOut));
        hook.value(abi::kHookPriority, be32(static_cast<std::uint32_t>(priority)));
      });
      m.value(abi::kChainPolicy, be32(abi::kAcceptVerdict)).text(abi::kChainType, type);
    });
  }
  // A chain that rules can jump to.
  void add_chain(std::string_view name) {
    add(abi::kNewChain, 0,
        [&](NetlinkMessage& m) { m.text(abi::kChainTable, kTableText).text(abi::kChainName, name); });
  }
  template <class Fill>
  void add_rule(std::string_view chain, unsigned flags, const Fill& fill) {
    add(abi::kNewRule, abi::kAppend | flags, [&](NetlinkMessage& m) {
      m.text(abi::kRuleTable, kTableText).text(abi::kRuleChain, chain).nest(abi::kRuleExpressions, fill);
    });
  }
  [[nodiscard]] std::string finish() && {
    add_border(abi::kBatchEnd);
    return std::move(bytes_);
  }

 private:
  template <class Fill>
  void add(std::uint16_t type, unsigned flags, const Fill& fill) {
    const auto full_type = static_cast<std::uint16_t>(abi::kSubsystemTables << 8 | type);
    NetlinkMessage message(full_type, abi::kRequest | abi::kCreate | flags, sequence_++,
                           abi::NetfilterMessage{.family = abi::kFamilyInet});
    fill(message);
    bytes_ += std::move(message).finish();
  }
  void add_border(std::uint16_t type) {
    const abi::NetfilterMessage subsystem{.resource = big_endian(abi::kSubsystemTables)};
    bytes_ += NetlinkMessage(type, abi::kRequest, sequence_++, subsystem).finish();
  }

  std::string bytes_{};
  std::uint32_t sequence_ = 1;
};

}  // namespace sallyport::nft
