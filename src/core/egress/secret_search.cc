#include "core/egress/secret_search.h"

#include <algorithm>
#include <charconv>
#include <span>

#include "core/bytes/base64.h"
#include "core/bytes/hex.h"
#include "core/egress/ascii.h"

namespace sallyport {
namespace {

// How many bytes of `text` spell the wanted character; 0: they do not, kCutOff: the text ends too early to decide.
constexpr std::size_t kCutOff = static_cast<std::size_t>(-1);
constexpr std::size_t kLongestSpelling = 9;

struct Entity {
  std::string_view name;
  char character;
};
constexpr auto kEntities = std::to_array<Entity>({{"amp;", '&'},
                                                  {"quot;", '"'},
                                                  {"apos;", '\''},
                                                  {"lt;", '<'},
                                                  {"gt;", '>'},
                                                  {"sol;", '/'},
                                                  {"plus;", '+'},
                                                  {"equals;", '='},
                                                  {"colon;", ':'},
                                                  {"period;", '.'},
                                                  {"lowbar;", '_'},
                                                  {"hyphen;", '-'}});

bool is_character(int code, char wanted) {
  return code > 0 && code < 0x80 && ascii_lower(static_cast<char>(code)) == ascii_lower(wanted);
}

// `digits` hexadecimal digits after `before` bytes.
std::size_t by_digits(std::string_view text, std::size_t before, std::size_t digits, char wanted) {
  if (text.size() < before + digits) return kCutOff;
  int code = 0;
  const char* const begin = text.data() + before;
  const auto [end, error] = std::from_chars(begin, begin + digits, code, 16);
  return error == std::errc{} && end == begin + digits && is_character(code, wanted) ? before + digits : 0;
}

std::size_t by_percent(std::string_view text, char wanted) {
  if (const std::size_t plain = by_digits(text, 1, 2, wanted); plain != 0) return plain;
  constexpr std::string_view kTwice = "%25";
  if (kTwice.starts_with(text.substr(0, kTwice.size())) && text.size() < kTwice.size()) return kCutOff;
  return text.starts_with(kTwice) ? by_digits(text, kTwice.size(), 2, wanted) : 0;
}

std::size_t by_backslash(std::string_view text, char wanted) {
  if (text.size() < 2) return kCutOff;
  if (text[1] == 'u' || text[1] == 'U') return by_digits(text, 2, 4, wanted);
  if (text[1] == 'x') return by_digits(text, 2, 2, wanted);
  return text[1] == wanted && !is_ascii_alnum(wanted) ? 2 : 0;
}

std::size_t by_entity(std::string_view text, char wanted) {
  const std::string_view rest = text.substr(1, kLongestSpelling - 1);
  const std::size_t end = rest.find(';');
  if (end == std::string_view::npos) return text.size() < kLongestSpelling ? kCutOff : 0;
  if (!rest.starts_with('#')) {
    const bool same = std::ranges::any_of(
        kEntities, [&](const Entity& one) { return one.character == wanted && rest.starts_with(one.name); });
    return same ? end + 2 : 0;
  }
  const bool hex = rest.size() > 1 && (rest[1] == 'x' || rest[1] == 'X');
  const std::string_view digits = rest.substr(hex ? 2 : 1, end - (hex ? 2 : 1));
  int code = 0;
  const auto [after, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, hex ? 16 : 10);
  const bool whole = error == std::errc{} && after == digits.data() + digits.size();
  return whole && is_character(code, wanted) ? end + 2 : 0;
}

std::size_t spelling(std::string_view text, char wanted) {
  const auto literal = [&]() -> std::size_t { return ascii_lower(text[0]) == ascii_lower(wanted) ? 1 : 0; };
  std::size_t length = 0;
  if (text[0] == '%') length = by_percent(text, wanted);
  if (text[0] == '\\') length = by_backslash(text, wanted);
  if (text[0] == '&') length = by_entity(text, wanted);
  return length == 0 || (length == kCutOff && literal() != 0) ? literal() : length;
}

enum class Match { kNo, kYes, kMaybe };

Match match(std::string_view text, std::string_view secret) {
  for (const char wanted : secret) {
    if (text.empty()) return Match::kMaybe;
    const std::size_t length = spelling(text, wanted);
    if (length == 0) return Match::kNo;
    if (length == kCutOff) return Match::kMaybe;
    text.remove_prefix(length);
  }
  return Match::kYes;
}

// The part of the base64 text that does not depend on the bytes around the secret.
std::string base64_inside(std::string_view secret, std::size_t before) {
  const std::string whole = base64(std::string(before, '\0') + std::string(secret));
  constexpr std::size_t kBits = 6;
  const std::size_t begin = ((before * 8) + kBits - 1) / kBits;
  return whole.substr(begin, ((before + secret.size()) * 8 / kBits) - begin);
}

}  // namespace

std::vector<std::string> encodings_of(std::string_view secret) {
  std::vector<std::string> all{hex_of({reinterpret_cast<const unsigned char*>(secret.data()), secret.size()})};
  for (const std::size_t before : {0U, 1U, 2U}) {
    std::string one = base64_inside(secret, before);
    all.push_back(one);
    std::ranges::replace(one, '+', '-');
    std::ranges::replace(one, '/', '_');
    if (one != all.back()) all.push_back(std::move(one));
  }
  return all;
}

SecretSearch::SecretSearch(std::vector<std::string> secrets) : secrets_(std::move(secrets)) {
  std::erase(secrets_, "");
  for (const std::string& secret : secrets_) {
    const char first = ascii_lower(secret.front());
    starts_.at(static_cast<unsigned char>(first)) = true;
    if (first >= 'a' && first <= 'z') starts_.at(static_cast<unsigned char>(first - 'a' + 'A')) = true;
    for (const unsigned char escape : {'%', '\\', '&'}) starts_.at(escape) = true;
  }
}

SecretSearch::Seen SecretSearch::look(std::string_view text) const {
  Seen seen{.clean = text.size()};
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!starts_.at(static_cast<unsigned char>(text[at]))) continue;
    for (const std::string& secret : secrets_) {
      const Match found = match(text.substr(at), secret);
      if (found == Match::kYes) return {.found = true, .clean = std::min(at, seen.clean)};
      if (found == Match::kMaybe) seen.clean = std::min(at, seen.clean);
    }
  }
  return seen;
}

}  // namespace sallyport
