#include "spawn/posix/connect_request.h"

#include <algorithm>
#include <charconv>

namespace sallyport::spawn::posix {
namespace {

constexpr std::string_view kBad = "400 Bad Request";
constexpr std::string_view kUnknown = "407 Proxy Authentication Required";
constexpr std::string_view kOther = "501 Not Implemented";

constexpr std::size_t kLongestName = 253;
constexpr std::size_t kLongestLabel = 63;
constexpr std::size_t kHeader = 12;

// Returns the line without its end, and moves `text` past it.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find("\r\n");
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
  return line;
}

bool same_name(std::string_view left, std::string_view right) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(left, right, {}, lower, lower);
}

bool has_credentials(std::string_view fields, std::string_view credentials) {
  constexpr std::string_view kScheme = "Basic ";
  while (!fields.empty()) {
    const std::string_view line = take_line(fields);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !same_name(line.substr(0, colon), "proxy-authorization")) continue;
    std::string_view value = line.substr(colon + 1);
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    return value.size() > kScheme.size() && same_name(value.substr(0, kScheme.size()), kScheme) &&
           value.substr(kScheme.size()) == credentials;
  }
  return false;
}

std::uint16_t number_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[at]) << 8U |
                                    static_cast<unsigned char>(bytes[at + 1]));
}

}  // namespace

ConnectRequest parse_connect(std::string_view head, std::string_view credentials) {
  constexpr std::string_view kMethod = "CONNECT ";
  constexpr std::string_view kVersion = " HTTP/1.";
  std::string_view line = take_line(head);
  if (!line.starts_with(kMethod)) return {.refusal = kOther};
  line.remove_prefix(kMethod.size());
  const std::size_t version = line.find(kVersion);
  if (version == std::string_view::npos || line.size() != version + kVersion.size() + 1) return {.refusal = kBad};
  const std::string_view authority = line.substr(0, version);
  if (!has_credentials(head, credentials)) return {.refusal = kUnknown};
  const std::size_t colon = authority.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return {.refusal = kBad};
  ConnectRequest request{.host = std::string(authority.substr(0, colon))};
  const std::string_view digits = authority.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), request.port);
  if (error != std::errc() || end != digits.data() + digits.size() || request.port == 0) return {.refusal = kBad};
  if (request.host.starts_with('[') && request.host.ends_with(']')) {
    request.host = request.host.substr(1, request.host.size() - 2);
  }
  return request;
}

std::string dns_question(std::string_view name) {
  if (name.empty() || name.size() > kLongestName) return {};
  // One question, recursion desired.
  std::string message = {'\x53', '\x50', 1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
  while (!name.empty()) {
    const std::string_view label = name.substr(0, name.find('.'));
    if (label.empty() || label.size() > kLongestLabel) return {};
    message += static_cast<char>(label.size());
    message += label;
    name.remove_prefix(std::min(label.size() + 1, name.size()));
  }
  message += std::string_view("\0\0\1\0\1", 5);  // the root, type A, class IN
  return message;
}

std::optional<std::string> address_in(std::string_view answer, std::string_view question) {
  // A name by pointer, type A, class IN, a time to live, four bytes.
  constexpr std::size_t kFixed = 12;
  constexpr std::size_t kSize = 4;
  const std::string_view asked = question.substr(kHeader);
  const std::size_t record = question.size();
  if (answer.size() < record + kFixed + kSize || answer.substr(kHeader, asked.size()) != asked) return std::nullopt;
  const bool is_answer = number_at(answer, 0) == number_at(question, 0) && (answer[2] & '\x80') != 0 &&
                         (answer[3] & '\x0f') == 0 && number_at(answer, 6) >= 1;
  const bool is_address = (answer[record] & '\xc0') == '\xc0' && number_at(answer, record + 2) == 1 &&
                          number_at(answer, record + 4) == 1 && number_at(answer, record + 10) == kSize;
  if (!is_answer || !is_address) return std::nullopt;
  return std::string(answer.substr(record + kFixed, kSize));
}

}  // namespace sallyport::spawn::posix
