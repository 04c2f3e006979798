#include "core/policy/toml_subset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/text/utf8.h"

namespace sallyport::toml {
namespace {

template <class T>
using Parsed = std::expected<T, Problem>;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr char32_t kDelete = 0x7f;
constexpr char32_t kFirstSurrogate = 0xd800;
constexpr char32_t kLastSurrogate = 0xdfff;
constexpr char32_t kLastCodePoint = 0x10ffff;

bool is_key_char(char32_t c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}
bool is_word_char(char32_t c) { return is_key_char(c) || c == '.' || c == ':' || c == '+'; }
bool is_control(char32_t c) { return (c < ' ' && c != '\t') || c == kDelete; }

void append_utf8(std::string& out, char32_t c) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80U) return put(c);
  if (c < 0x800U) {
    put(0xc0U | (c >> 6U));
  } else {
    if (c < 0x10000U) {
      put(0xe0U | (c >> 12U));
    } else {
      put(0xf0U | (c >> 18U));
      put(0x80U | ((c >> 12U) & 0x3fU));
    }
    put(0x80U | ((c >> 6U) & 0x3fU));
  }
  put(0x80U | (c & 0x3fU));
}

// Reads one character at a time, with its position. The text is valid UTF-8, so a character of length 0 is the end.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) { decode(); }

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] char32_t peek() const { return at_end() ? U'\0' : now_.code_point; }
  [[nodiscard]] bool at(std::string_view text) const { return rest_.starts_with(text); }
  [[nodiscard]] Place place() const { return place_; }

  char32_t take() {
    const char32_t taken = peek();
    rest_.remove_prefix(now_.length);
    place_ = taken == U'\n' ? Place{place_.line + 1, 1} : Place{place_.line, place_.column + 1};
    decode();
    return taken;
  }
  bool take_if(char32_t wanted) {
    if (at_end() || peek() != wanted) return false;
    take();
    return true;
  }
  void skip_blanks() {
    while (peek() == U' ' || peek() == U'\t') take();
  }

 private:
  void decode() { now_ = rest_.empty() ? Utf8Char{} : decode_utf8(rest_); }

  std::string_view rest_;
  Utf8Char now_{};
  Place place_{};
};

class Parser {
 public:
  explicit Parser(std::string_view text) : cursor_(text) {}

  Parsed<Document> document() {
    Document document;
    while (true) {
      if (const Parsed<void> skipped = skip_to_text(); !skipped) return std::unexpected(skipped.error());
      if (cursor_.at_end()) return document;
      const Parsed<void> read = cursor_.peek() == U'[' ? header(document) : pair(document);
      if (!read) return std::unexpected(read.error());
      if (const Parsed<void> ended = end_of_line(); !ended) return std::unexpected(ended.error());
    }
  }

 private:
  std::unexpected<Problem> problem(std::string_view why) const { return problem(cursor_.place(), why); }
  static std::unexpected<Problem> problem(Place place, std::string_view why) {
    return std::unexpected(Problem{.place = place, .why = std::string(why)});
  }

  Parsed<void> skip_comment() {
    if (cursor_.peek() != U'#') return {};
    while (!cursor_.at_end() && cursor_.peek() != U'\n') {
      if (is_control(cursor_.peek()) && !cursor_.at("\r\n")) return problem("a control character in a comment");
      cursor_.take();
    }
    return {};
  }

  // Skips blanks, comments and line ends.
  Parsed<void> skip_to_text() {
    while (true) {
      cursor_.skip_blanks();
      if (const Parsed<void> comment = skip_comment(); !comment) return comment;
      if (cursor_.at("\r\n")) cursor_.take();
      if (!cursor_.take_if(U'\n')) return {};
    }
  }

  Parsed<void> end_of_line() {
    cursor_.skip_blanks();
    if (const Parsed<void> comment = skip_comment(); !comment) return comment;
    if (cursor_.at("\r\n")) cursor_.take();
    if (cursor_.at_end() || cursor_.take_if(U'\n')) return {};
    return problem("something follows on the same line");
  }

  Parsed<std::string> key() {
    std::string name;
    while (is_key_char(cursor_.peek())) name += static_cast<char>(cursor_.take());
    if (name.empty()) return problem("a key was expected: letters, digits, _ and -");
    return name;
  }

  Parsed<void> header(Document& document) {
    const Place place = cursor_.place();
    cursor_.take();
    if (!cursor_.take_if(U'[')) return problem(place, "only [[name]] headers are understood");
    cursor_.skip_blanks();
    Parsed<std::string> name = key();
    if (!name) return std::unexpected(name.error());
    cursor_.skip_blanks();
    if (!cursor_.take_if(U']') || !cursor_.take_if(U']')) return problem("']]' was expected");
    document.tables.push_back({.place = place, .name = *std::move(name)});
    return {};
  }

  Parsed<void> pair(Document& document) {
    Table& table = document.tables.empty() ? document.root : document.tables.back();
    Pair read{.place = cursor_.place()};
    Parsed<std::string> name = key();
    if (!name) return std::unexpected(name.error());
    read.key = *std::move(name);
    if (table.find(read.key) != nullptr) return problem(read.place, fmt::format("'{}' is set twice", read.key));
    cursor_.skip_blanks();
    if (!cursor_.take_if(U'=')) return problem("'=' was expected");
    cursor_.skip_blanks();
    Parsed<Value> value = cursor_.peek() == U'[' ? array() : scalar();
    if (!value) return std::unexpected(value.error());
    read.value = *std::move(value);
    table.pairs.push_back(std::move(read));
    return {};
  }

  Parsed<Value> array() {
    Value value{.place = cursor_.place()};
    Array items;
    cursor_.take();
    while (true) {
      if (const Parsed<void> skipped = skip_to_text(); !skipped) return std::unexpected(skipped.error());
      if (cursor_.take_if(U']')) break;
      Parsed<Value> item = scalar();
      if (!item) return item;
      items.push_back(*std::move(item));
      if (const Parsed<void> skipped = skip_to_text(); !skipped) return std::unexpected(skipped.error());
      if (cursor_.take_if(U']')) break;
      if (!cursor_.take_if(U',')) return problem("',' or ']' was expected");
    }
    value.data = std::move(items);
    return value;
  }

  Parsed<Value> scalar() {
    Value value{.place = cursor_.place()};
    if (cursor_.at("\"\"\"") || cursor_.at("'''")) return problem("a string that goes over several lines");
    if (cursor_.peek() == U'"' || cursor_.peek() == U'\'') {
      Parsed<std::string> text = string();
      if (!text) return std::unexpected(text.error());
      value.data = *std::move(text);
      return value;
    }
    std::string word;
    while (is_word_char(cursor_.peek())) word += static_cast<char>(cursor_.take());
    if (word.empty()) return problem("a value was expected: a string, true, false or an array of strings");
    if (word == "true" || word == "false") {
      value.data = word == "true";
    } else {
      value.data = Word{std::move(word)};
    }
    return value;
  }

  Parsed<std::string> string() {
    const char32_t quote = cursor_.take();
    std::string text;
    while (!cursor_.take_if(quote)) {
      if (cursor_.at_end() || cursor_.peek() == U'\n' || cursor_.at("\r\n")) return problem("the string has no end");
      if (is_control(cursor_.peek())) return problem("a control character in a string");
      if (quote == U'"' && cursor_.peek() == U'\\') {
        const Parsed<void> escaped = escape(text);
        if (!escaped) return std::unexpected(escaped.error());
      } else {
        append_utf8(text, cursor_.take());
      }
    }
    return text;
  }

  Parsed<void> escape(std::string& text) {
    constexpr std::string_view kLetters = "btnfr\"\\";
    constexpr std::string_view kMeanings = "\b\t\n\f\r\"\\";
    const Place place = cursor_.place();
    cursor_.take();
    const char32_t letter = cursor_.take();
    if (letter == U'u') return code_point(place, 4, text);
    if (letter == U'U') return code_point(place, 8, text);
    const std::size_t found = letter < kDelete ? kLetters.find(static_cast<char>(letter)) : std::string_view::npos;
    if (letter == U'\0' || found == std::string_view::npos) return problem(place, "an unknown escape");
    text += kMeanings[found];
    return {};
  }

  Parsed<void> code_point(Place place, int digits, std::string& text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::uint32_t value = 0;
    for (int i = 0; i < digits; ++i) {
      char32_t digit = cursor_.take();
      if (digit >= 'A' && digit <= 'F') digit += 'a' - 'A';
      const std::size_t found = digit < kDelete ? kDigits.find(static_cast<char>(digit)) : std::string_view::npos;
      if (found == std::string_view::npos) return problem(place, fmt::format("an escape needs {} hex digits", digits));
      value = value << 4U | static_cast<std::uint32_t>(found);
    }
    if (value > kLastCodePoint || (value >= kFirstSurrogate && value <= kLastSurrogate)) {
      return problem(place, "an escape that names no character");
    }
    append_utf8(text, static_cast<char32_t>(value));
    return {};
  }

  Cursor cursor_;
};

}  // namespace

const Pair* Table::find(std::string_view key) const {
  const auto found = std::ranges::find(pairs, key, &Pair::key);
  return found == pairs.end() ? nullptr : &*found;
}

std::expected<Document, Problem> parse(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return Parser(text).document();
}

}  // namespace sallyport::toml
