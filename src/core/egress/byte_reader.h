// Reads big-endian numbers from untrusted bytes. A read past the end is no immediate error: it returns zeros, and the
// reader remembers it, so that a parser checks once, where it decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sallyport {

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  [[nodiscard]] std::uint32_t number(std::size_t bytes) {
    std::uint32_t value = 0;
    for (const std::uint8_t byte : take(bytes)) value = value << 8 | byte;
    return value;
  }
  [[nodiscard]] std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
  [[nodiscard]] std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }

  // Empty when fewer bytes are left.
  std::span<const std::uint8_t> take(std::size_t count) {
    if (count > rest_.size()) {
      overrun_ = true;
      rest_ = {};
      return {};
    }
    const std::span<const std::uint8_t> taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  // A field that begins with its own length in `length_bytes` bytes.
  [[nodiscard]] ByteReader sized(std::size_t length_bytes) {
    const std::size_t length = number(length_bytes);
    ByteReader field(take(length));
    field.overrun_ = overrun_;
    return field;
  }

  [[nodiscard]] std::size_t size() const { return rest_.size(); }
  [[nodiscard]] bool overrun() const { return overrun_; }
  [[nodiscard]] std::span<const std::uint8_t> rest() const { return rest_; }
  // True when no read went past the end, and nothing is left.
  [[nodiscard]] bool ended() const { return !overrun_ && rest_.empty(); }

 private:
  std::span<const std::uint8_t> rest_;
  bool overrun_ = false;
};

}  // namespace sallyport
