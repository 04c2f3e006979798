// Builds netlink messages: a header whose length is filled in at the end, then attributes, which may hold others.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "os/netlink_abi.h"

namespace sallyport {

constexpr std::uint16_t big_endian(std::uint16_t value) {
  return std::endian::native == std::endian::big ? value : __builtin_bswap16(value);
}
constexpr std::uint32_t big_endian(std::uint32_t value) {
  return std::endian::native == std::endian::big ? value : __builtin_bswap32(value);
}

class NetlinkMessage {
 public:
  // `fixed` is the structure that follows the header, such as rtmsg.
  template <class Fixed>
    requires std::is_trivially_copyable_v<Fixed>
  NetlinkMessage(std::uint16_t type, unsigned flags, std::uint32_t sequence, const Fixed& fixed) {
    put(netlink_abi::MessageHeader{.type = type, .flags = static_cast<std::uint16_t>(flags), .sequence = sequence});
    put(fixed);
  }

  NetlinkMessage& text(unsigned type, std::string_view value) {
    return attribute(type, std::string(value).c_str(), value.size() + 1);
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  NetlinkMessage& value(unsigned type, const T& value) {
    return attribute(type, &value, sizeof value);
  }
  // A nested attribute: `fill(*this)` adds the inner attributes.
  template <class Fill>
  NetlinkMessage& nest(unsigned type, const Fill& fill) {
    const std::size_t at = bytes_.size();
    attribute(type | netlink_abi::kNested, nullptr, 0);
    fill(*this);
    return set_length<std::uint16_t>(at + offsetof(netlink_abi::AttributeHeader, length), bytes_.size() - at);
  }

  [[nodiscard]] std::string finish() && {
    set_length<std::uint32_t>(offsetof(netlink_abi::MessageHeader, length), bytes_.size());
    return std::move(bytes_);
  }

 private:
  template <class T>
  void put(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    pad();
  }
  // The length in the header excludes padding: the kernel compares it with the expected size.
  NetlinkMessage& attribute(unsigned type, const void* data, std::size_t size) {
    put(netlink_abi::AttributeHeader{.length = static_cast<std::uint16_t>(sizeof(netlink_abi::AttributeHeader) + size),
                                     .type = static_cast<std::uint16_t>(type)});
    if (size != 0) bytes_.append(static_cast<const char*>(data), size);
    pad();
    return *this;
  }
  void pad() {
    constexpr std::size_t kMask = netlink_abi::kAlignment - 1;
    bytes_.resize((bytes_.size() + kMask) & ~kMask);
  }
  template <class T>
  NetlinkMessage& set_length(std::size_t at, std::size_t length) {
    const auto number = static_cast<T>(length);
    std::memcpy(bytes_.data() + at, &number, sizeof number);
    return *this;
  }

  std::string bytes_{};
};

}  // namespace sallyport
