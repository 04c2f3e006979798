// The IANA special-purpose address registries (RFC 6890 and its updates, read in 2025), and the addresses of clouds'
// metadata services. Where a registry calls a protocol's anycast address inside a special block reachable, the block's
// verdict counts: no host of an allowlist lives there.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>

#include "core/egress/ip_address.h"

namespace sallyport {
namespace special_addresses {  // for the short names of the kinds
namespace {

using enum AddressKind;

struct AddressRange {
  std::array<std::uint8_t, 16> prefix;
  unsigned bits;
  AddressKind kind = kReserved;  // unused by the ranges below, which have code of their own
};

// The first match counts, so single addresses come before their block.
constexpr std::array kV4Ranges = std::to_array<AddressRange>({
    {{169, 254, 169, 254}, 32, kMetadata},  // AWS, GCP, Azure, OpenStack, …
    {{169, 254, 170, 2}, 32, kMetadata},    // AWS ECS task credentials
    {{169, 254, 170, 23}, 32, kMetadata},   // AWS EKS pod identity
    {{100, 100, 100, 200}, 32, kMetadata},  // Alibaba Cloud
    {{192, 0, 0, 192}, 32, kMetadata},      // Oracle Cloud (classic)
    {{168, 63, 129, 16}, 32, kMetadata},    // Azure's wire server, in public space but never beyond the host
    {{0}, 8, kUnspecified},                 // RFC 791; Linux connects 0.0.0.0 to itself
    {{10}, 8, kPrivate},                    // RFC 1918
    {{100, 64}, 10, kShared},               // carrier-grade NAT, RFC 6598
    {{127}, 8, kLoopback},                  // RFC 1122
    {{169, 254}, 16, kLinkLocal},           // RFC 3927
    {{172, 16}, 12, kPrivate},              // RFC 1918
    {{192, 0, 0}, 24, kReserved},           // IETF protocol assignments, RFC 6890
    {{192, 0, 2}, 24, kDocumentation},      // RFC 5737
    {{192, 88, 99}, 24, kReserved},         // 6to4 relays, deprecated by RFC 7526
    {{192, 168}, 16, kPrivate},             // RFC 1918
    {{198, 18}, 15, kBenchmark},            // RFC 2544; also our own synthetic addresses
    {{198, 51, 100}, 24, kDocumentation},   // RFC 5737
    {{203, 0, 113}, 24, kDocumentation},    // RFC 5737
    {{224}, 4, kMulticast},                 // RFC 5771
    {{255, 255, 255, 255}, 32, kBroadcast},
    {{240}, 4, kReserved},  // RFC 1112
});

constexpr std::array kV6Ranges = std::to_array<AddressRange>({
    {{0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54}, 128, kMetadata},     // AWS
    {{0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x23}, 128, kMetadata},        // AWS EKS pod identity
    {{0xfd, 0x20, 0, 0xce, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54}, 128, kMetadata},     // GCP
    {{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xa9, 0xfe, 0xa9, 0xfe}, 128, kMetadata},  // OpenStack
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 128, kUnspecified},                 // RFC 4291
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128, kLoopback},                    // RFC 4291
    {{0x01, 0x00, 0, 0, 0, 0, 0, 0}, 64, kDiscard},                                        // RFC 6666
    {{0x01, 0x00, 0, 0, 0, 0, 0, 1}, 64, kDiscard},                                        // dummy, RFC 9780
    {{0x20, 0x01, 0x00, 0x02, 0, 0}, 48, kBenchmark},                                      // RFC 5180; also ours
    {{0x20, 0x01, 0x0d, 0xb8}, 32, kDocumentation},                                        // RFC 3849
    {{0x3f, 0xff, 0x00}, 20, kDocumentation},                                              // RFC 9637
    {{0xfc}, 7, kPrivate},                                                                 // ULA, RFC 4193
    {{0xfe, 0x80}, 10, kLinkLocal},                                                        // RFC 4291
    {{0xfe, 0xc0}, 10, kSiteLocal},                                                        // RFC 3879
    {{0xff}, 8, kMulticast},                                                               // RFC 4291
});

// ORCHID, AMT, DRIP and others: protocols, not hosts. Teredo, in the same block, is checked before.
constexpr AddressRange kIetfAssignments{{0x20, 0x01, 0x00}, 23, kReserved};
constexpr AddressRange kGlobalUnicast{{0x20}, 3};

constexpr AddressRange kMapped{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96};
constexpr AddressRange kCompatible{{}, 96};
constexpr AddressRange kNat64{{0x00, 0x64, 0xff, 0x9b}, 96};                   // RFC 6052
constexpr AddressRange kLocalNat64{{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48};  // RFC 8215
constexpr AddressRange k6to4{{0x20, 0x02}, 16};
constexpr AddressRange kTeredo{{0x20, 0x01, 0x00, 0x00}, 32};

bool contains(const AddressRange& range, const IpAddress& address) {
  const unsigned whole = range.bits / 8;
  if (!std::equal(range.prefix.begin(), range.prefix.begin() + whole, address.bytes.begin())) return false;
  const unsigned rest = range.bits % 8;
  if (rest == 0) return true;
  const unsigned mask = 0xffU << (8 - rest) & 0xffU;
  return (address.bytes[whole] & mask) == (range.prefix[whole] & mask);
}

AddressKind first_match(std::span<const AddressRange> ranges, const IpAddress& address) {
  const auto found = std::ranges::find_if(ranges, [&](const AddressRange& range) { return contains(range, address); });
  return found == ranges.end() ? kPublic : found->kind;
}

AddressKind kind_of_v4(const IpAddress& address) { return first_match(kV4Ranges, address); }

IpAddress embedded_v4(const IpAddress& address, std::array<std::size_t, 4> places) {
  const auto& b = address.bytes;
  return IpAddress::v4(b[places[0]], b[places[1]], b[places[2]], b[places[3]]);
}

// Only the gateway knows where in a local-use prefix the IPv4 is (RFC 6052, 2.2, four possible lengths), so the address
// must be public for every length. A reading of 0.x is another length's padding and leads nowhere.
AddressKind kind_of_local_nat64(const IpAddress& address) {
  bool read_one = false;
  for (const std::array<std::size_t, 4>& places : std::initializer_list<std::array<std::size_t, 4>>{
           {6, 7, 9, 10}, {7, 9, 10, 11}, {9, 10, 11, 12}, {12, 13, 14, 15}}) {
    const IpAddress reading = embedded_v4(address, places);
    if (reading.bytes[0] == 0) continue;
    read_one = true;
    if (const AddressKind kind = kind_of_v4(reading); kind != kPublic) return kind;
  }
  return read_one ? kPublic : kUnspecified;
}

// The server's and, inverted, the client's address (RFC 4380, 4).
AddressKind kind_of_teredo(const IpAddress& address) {
  if (const AddressKind kind = kind_of_v4(embedded_v4(address, {4, 5, 6, 7})); kind != kPublic) return kind;
  IpAddress client = embedded_v4(address, {12, 13, 14, 15});
  for (std::uint8_t& byte : std::span(client.bytes).first<4>()) byte = static_cast<std::uint8_t>(~byte);
  return kind_of_v4(client);
}

// An interface identifier of 0000:5efe or 0200:5efe and an IPv4 (RFC 5214), behind any prefix.
bool is_isatap(const IpAddress& address) {
  const auto& b = address.bytes;
  return (b[8] & 0xfdU) == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe;
}

AddressKind kind_of_v6(const IpAddress& address) {
  if (const AddressKind kind = first_match(kV6Ranges, address); kind != kPublic) return kind;
  const IpAddress low = embedded_v4(address, {12, 13, 14, 15});
  if (contains(kMapped, address) || contains(kNat64, address)) return kind_of_v4(low);
  // Deprecated and not routed, even when its IPv4 is public.
  if (contains(kCompatible, address)) {
    const AddressKind inside = kind_of_v4(low);
    return inside == kPublic ? kReserved : inside;
  }
  if (contains(kLocalNat64, address)) return kind_of_local_nat64(address);
  if (!contains(kGlobalUnicast, address)) return kReserved;
  if (contains(k6to4, address)) {
    if (const AddressKind kind = kind_of_v4(embedded_v4(address, {2, 3, 4, 5})); kind != kPublic) return kind;
  }
  if (contains(kTeredo, address)) return kind_of_teredo(address);
  if (contains(kIetfAssignments, address)) return kReserved;
  return is_isatap(address) ? kind_of_v4(low) : kPublic;
}

}  // namespace
}  // namespace special_addresses

AddressKind kind_of(const IpAddress& address) {
  return address.v6 ? special_addresses::kind_of_v6(address) : special_addresses::kind_of_v4(address);
}

}  // namespace sallyport
