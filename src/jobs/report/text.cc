#include "jobs/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace sallyport::jobs {
namespace {

std::uint8_t byte_at(std::string_view bytes, std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); }

bool is_continuation(std::string_view bytes, std::size_t at) {
  return at < bytes.size() && (byte_at(bytes, at) & 0xC0U) == 0x80U;
}

// Reorders, hides or breaks up the text around it without showing itself.
bool hides(char32_t c) {
  return (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF ||
         c == 0xAD || c == 0x61C || c == 0x180E || (c >= 0xE0000 && c <= 0xE007F) || (c >= 0xFFF9 && c <= 0xFFFB);
}

bool is_token_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '_' ||
         c == '=' || c == '-';
}

int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

}  // namespace

CodePoint code_point_at(std::string_view bytes, std::size_t at) {
  const std::uint8_t first = byte_at(bytes, at);
  if (first < 0x80) return {.value = first, .length = 1, .valid = true};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return {};
  char32_t value = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(bytes, at + i)) return {};
    value = (value << 6U) | (byte_at(bytes, at + i) & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest.at(length) || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {};
  return {.value = value, .length = length, .valid = true};
}

bool is_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    if (byte_at(bytes, at) < 0x80) {
      ++at;
      continue;
    }
    const CodePoint one = code_point_at(bytes, at);
    if (!one.valid) return false;
    at += one.length;
  }
  return true;
}

std::size_t count_code_points(std::string_view bytes) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < bytes.size(); at += code_point_at(bytes, at).length) ++count;
  return count;
}

std::string shown(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint one = code_point_at(text, at);
    if (!one.valid) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte_at(text, at));
    } else if (one.value == '\n') {
      out += "\\n";
    } else if (one.value == '\t') {
      out += "\\t";
    } else if (one.value < 0x20 || (one.value >= 0x7F && one.value < 0xA0)) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned>(one.value));
    } else if (hides(one.value)) {
      fmt::format_to(std::back_inserter(out), "\\u{{{:04x}}}", static_cast<unsigned>(one.value));
    } else {
      out += text.substr(at, one.length);
    }
    at += one.length;
  }
  return out;
}

std::string html(std::string_view text) {
  std::string out;
  for (const char c : shown(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string markdown(std::string_view text) {
  std::string out;
  for (const char c : shown(text)) {
    constexpr std::string_view kMarkup = "\\`*_{}[]()#+-.!|~>&@:$^=\"'";
    if (c == '<') {
      out += "&lt;";
      continue;
    }
    if (kMarkup.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string uri_of_path(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<std::uint8_t>(c));
    }
  }
  return out;
}

void append_json_string(std::string& out, std::string_view text) {
  std::string repaired;
  if (!is_utf8(text)) {
    repaired = shown(text);
    text = repaired;
  }
  out += '"';
  std::size_t plain = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (static_cast<std::uint8_t>(c) >= 0x20 && c != '"' && c != '\\') continue;
    out += text.substr(plain, at - plain);
    plain = at + 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    }
  }
  out += text.substr(plain);
  out += '"';
}

std::string scrub_tokens(std::string_view text) {
  constexpr std::size_t kShortestToken = 12;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    bool digits = false;
    bool letters = false;
    while (end < text.size() && is_token_char(text[end])) {
      const char c = text[end++];
      digits = digits || (c >= '0' && c <= '9');
      letters = letters || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    }
    if (end == at) {
      out += text[at++];
      continue;
    }
    const bool token = digits && letters && end - at >= kShortestToken;
    out += token ? std::string_view("[redacted]") : text.substr(at, end - at);
    at = end;
  }
  return out;
}

std::optional<std::string> base64_decode(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string out;
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char c : text) {
    const int value = base64_value(c);
    if (value < 0) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>((bits >> held) & 0xFFU);
  }
  return out;
}

}  // namespace sallyport::jobs
