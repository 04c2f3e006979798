#include "jobs/validate/integrity.h"

#include <algorithm>

#include "jobs/report/text.h"

namespace sallyport::jobs {
namespace {

constexpr std::string_view kAlgorithm = "sha512-";
constexpr std::size_t kBytes = 64;

std::optional<std::string> hex_of_base64(std::string_view text) {
  const std::optional<std::string> bytes = base64_decode(text);
  if (!bytes || bytes->size() != kBytes) return std::nullopt;
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const char c : *bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4U];
    hex += kDigits[byte & 0x0FU];
  }
  return hex;
}

}  // namespace

std::optional<std::string> sha512_of(std::string_view integrity) {
  std::optional<std::string> found;
  while (!integrity.empty()) {
    const std::size_t blank = std::min(integrity.find_first_of(" \t\r\n"), integrity.size());
    std::string_view word = integrity.substr(0, blank);
    integrity.remove_prefix(std::min(blank + 1, integrity.size()));
    if (!word.starts_with(kAlgorithm)) continue;
    word.remove_prefix(kAlgorithm.size());
    word = word.substr(0, word.find('?'));
    const std::optional<std::string> hex = hex_of_base64(word);
    if (!hex || (found && *found != *hex)) return std::nullopt;
    found = hex;
  }
  return found;
}

std::string content_path(std::string_view sha512_hex) {
  std::string path = "content-v2/sha512/";
  path += sha512_hex.substr(0, 2);
  path += '/';
  path += sha512_hex.substr(2, 2);
  path += '/';
  path += sha512_hex.substr(4);
  return path;
}

}  // namespace sallyport::jobs
