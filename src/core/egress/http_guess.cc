// Is it HTTP at all? Wider than what HttpRequests accepts: what some server would take for a request must be looked at,
// and is then refused there.
#include <algorithm>
#include <array>

#include "core/egress/http_requests.h"
#include "core/egress/http_text.h"

namespace sallyport {
namespace {

constexpr std::array<std::string_view, 10> kHttpMethods = {"GET",    "HEAD",    "POST",  "PUT",     "PATCH",
                                                           "DELETE", "OPTIONS", "TRACE", "CONNECT", "PRI"};
constexpr std::string_view kHttpBlank = " \t\r\n";
// Some servers pass over any number of empty lines (nginx), and no other protocol begins with many.
constexpr std::size_t kMostBlank = 64;

bool is_known_method(std::string_view method) { return std::ranges::find(kHttpMethods, method) != kHttpMethods.end(); }

// " HTTP/" in any case, after white space of any kind.
bool has_http_version(std::string_view line) {
  static constexpr std::string_view kVersion = "http/";
  for (std::size_t i = 1; i + kVersion.size() <= line.size(); ++i) {
    const bool after_blank = kHttpBlank.find(line[i - 1]) != std::string_view::npos;
    if (after_blank && starts_with_ignoring_case(line.substr(i), kVersion)) return true;
  }
  return false;
}

}  // namespace

HttpGuess looks_like_http(std::span<const std::uint8_t> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t begin = text.find_first_not_of(kHttpBlank);
  if (std::min(begin, text.size()) > kMostBlank) return HttpGuess::kYes;
  if (begin == std::string_view::npos) return HttpGuess::kMaybe;
  text.remove_prefix(begin);
  const std::size_t method_end = std::min(text.find_first_of(kHttpBlank), text.size());
  const std::string_view method = text.substr(0, method_end);
  if (!is_token(method)) return HttpGuess::kNo;
  const std::string_view line = text.substr(0, text.find('\n'));
  const bool known = is_known_method(method);
  if (has_http_version(line)) return HttpGuess::kYes;
  if (known && line.size() > method_end + 1 && line[method_end + 1] == '/') return HttpGuess::kYes;
  const auto is_text = [](char c) { return is_line_char(c) || c == '\r'; };
  if (!std::ranges::all_of(line, is_text)) return HttpGuess::kNo;
  if (line.size() == text.size()) {
    // No server reads a longer request line.
    return text.size() < kLargestHttpHead ? HttpGuess::kMaybe : HttpGuess::kNo;
  }
  // A whole line without a version: HTTP/0.9, if its method is one.
  return known && line.size() > method_end + 1 ? HttpGuess::kYes : HttpGuess::kNo;
}

}  // namespace sallyport
