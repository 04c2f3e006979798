#include "core/egress/address_book.h"

namespace sallyport {
namespace {

// The index lies in the low 17 bits of 198.18.0.0/15, and in the last group pair of 2001:2::/48. Counting starts at 1:
// an address that ends in 0 could be taken for a network address.
constexpr std::uint32_t kFirstHost = 1;
static_assert(AddressBook::kMostNames + kFirstHost < 1U << 17);

constexpr std::uint32_t kBenchmarkNet = 198U << 24 | 18U << 16;
static_assert(AddressBook::kMostNames < 1U << 22);  // and of 127.64.0.0/10

IpAddress synthetic_v4(std::uint32_t index, AddressRange range) {
  const std::uint32_t first =
      range == AddressRange::kLoopback ? AddressBook::kFirstOfLoopback : kBenchmarkNet + kFirstHost;
  const std::uint32_t host = first + index;
  return IpAddress::v4(static_cast<std::uint8_t>(host >> 24), static_cast<std::uint8_t>(host >> 16),
                       static_cast<std::uint8_t>(host >> 8), static_cast<std::uint8_t>(host));
}

IpAddress synthetic_v6(std::uint32_t index) {
  const std::uint32_t host = index + kFirstHost;
  IpAddress address{.v6 = true, .bytes = {0x20, 0x01, 0x00, 0x02}};
  address.bytes[13] = static_cast<std::uint8_t>(host >> 16);
  address.bytes[14] = static_cast<std::uint8_t>(host >> 8);
  address.bytes[15] = static_cast<std::uint8_t>(host);
  return address;
}

}  // namespace

std::optional<std::uint32_t> AddressBook::index_of(std::string_view name) {
  if (const auto found = index_.find(name); found != index_.end()) return found->second;
  if (names_.size() >= most_names_) return std::nullopt;
  const auto index = static_cast<std::uint32_t>(names_.size());
  names_.push_back(&index_.emplace(name, index).first->first);
  return index;
}

IpAddress AddressBook::address_at(std::uint32_t index, bool v6) const {
  return v6 ? synthetic_v6(index) : synthetic_v4(index, range_);
}

std::optional<IpAddress> AddressBook::v4_of(std::string_view name) {
  const std::optional<std::uint32_t> index = index_of(name);
  return index ? std::optional(address_at(*index, false)) : std::nullopt;
}

std::optional<IpAddress> AddressBook::v6_of(std::string_view name) {
  if (!has_v6()) return std::nullopt;
  const std::optional<std::uint32_t> index = index_of(name);
  return index ? std::optional(address_at(*index, true)) : std::nullopt;
}

std::optional<std::string_view> AddressBook::name_of(const IpAddress& address) const {
  if (address.v6 && !has_v6()) return std::nullopt;
  const auto& b = address.bytes;
  const std::size_t last = address.v6 ? 15 : 3;
  const std::uint32_t high = address.v6 ? b[13] : b[1] - (has_v6() ? 18U : 64U);
  const std::uint32_t index = (high << 16 | static_cast<std::uint32_t>(b[last - 1]) << 8 | b[last]) - kFirstHost;
  // Compare with the address made from the index: that checks all other bytes.
  if (index >= names_.size() || address_at(index, address.v6) != address) return std::nullopt;
  return std::string_view(*names_[index]);
}

}  // namespace sallyport
