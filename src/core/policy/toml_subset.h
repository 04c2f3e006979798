// The part of TOML that a policy file is written in: `key = value` lines, `[[name]]` headers, comments. A value is a string
// ("basic" or 'literal'), a boolean, or an array of strings. It refuses TOML's other features (dotted and quoted keys,
// `[table]`, multi-line strings, inline tables) with their position; it keeps a number or date as a word that no key
// accepts.
//
// We wrote our own because Debian's two parsers would need more code around them than this file has: toml++ 3.3 runs
// into "unreachable" code outside ASCII and breaks its own assertions on "[[=", toml11 throws (ADR 0029).
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sallyport::toml {

// Both count from 1; columns are characters, not bytes.
struct Place {
  unsigned line = 1;
  unsigned column = 1;
};

struct Problem {
  Place place{};
  std::string why{};
};

struct Word {
  std::string text{};
};
struct Value;
using Array = std::vector<Value>;
struct Value {
  Place place{};
  std::variant<std::string, bool, Word, Array> data{};
};

struct Pair {
  Place place{};
  std::string key{};
  Value value{};
};

// The pairs before the first header, or those below a header.
struct Table {
  Place place{};
  std::string name{};  // of the header; empty for the pairs before the first one
  std::vector<Pair> pairs{};

  [[nodiscard]] const Pair* find(std::string_view key) const;
};

struct Document {
  Table root{};
  std::vector<Table> tables{};
};

// `text` must be valid UTF-8; a byte order mark at its start is dropped.
[[nodiscard]] std::expected<Document, Problem> parse(std::string_view text);

}  // namespace sallyport::toml
