#include "core/bytes/base64.h"

#include <cstddef>
#include <cstdint>

namespace sallyport {

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kBase64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view group = bytes.substr(i, 3);
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      bits = (bits << 8) | (j < group.size() ? static_cast<unsigned char>(group[j]) : 0U);
    }
    text += kBase64Digits[bits >> 18];
    text += kBase64Digits[(bits >> 12) & 0x3FU];
    text += group.size() > 1 ? kBase64Digits[(bits >> 6) & 0x3FU] : '=';
    text += group.size() > 2 ? kBase64Digits[bits & 0x3FU] : '=';
  }
  return text;
}

}  // namespace sallyport
