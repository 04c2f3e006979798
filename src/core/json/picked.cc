#include "core/json/picked.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace sallyport {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;

void skip_blanks(std::string_view& rest) {
  while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n' || rest[0] == '\r')) {
    rest.remove_prefix(1);
  }
}

bool take(std::string_view& rest, char wanted) {
  skip_blanks(rest);
  if (rest.empty() || rest[0] != wanted) return false;
  rest.remove_prefix(1);
  return true;
}

// `text` begins with the opening quote. Returns the position after the closing quote.
std::size_t end_of_string(std::string_view text) {
  for (std::size_t at = 1;;) {
    const std::size_t quote = text.find('"', at);
    if (quote == kNowhere) return kNowhere;
    std::size_t before = quote;
    while (text[before - 1] == '\\') --before;
    at = quote + 1;
    if ((quote - before) % 2 == 0) return at;
  }
}

std::size_t end_of_structure(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      const std::size_t length = end_of_string(text.substr(at));
      if (length == kNowhere) return kNowhere;
      at += length;
      continue;
    }
    ++at;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return at;
  }
  return kNowhere;
}

std::size_t end_of_value(std::string_view text) {
  if (text.empty()) return kNowhere;
  if (text[0] == '"') return end_of_string(text);
  if (text[0] == '{' || text[0] == '[') return end_of_structure(text);
  const std::size_t end = text.find_first_of(",}] \t\n\r");
  return end == 0 ? kNowhere : end;
}

}  // namespace

MemberScan::MemberScan(std::string_view object) : rest_(object) {
  if (!take(rest_, '{')) rest_ = {};
}

bool MemberScan::next() {
  if (take(rest_, '}')) {
    skip_blanks(rest_);
    whole_ = rest_.empty();
    rest_ = {};
    return false;
  }
  if (started_ && !take(rest_, ',')) return false;
  started_ = true;
  skip_blanks(rest_);
  const std::size_t name = rest_.starts_with('"') ? end_of_string(rest_) : kNowhere;
  if (name == kNowhere) return false;
  name_ = rest_.substr(1, name - 2);
  rest_.remove_prefix(name);
  if (!take(rest_, ':')) return false;
  skip_blanks(rest_);
  const std::size_t value = end_of_value(rest_);
  if (value == kNowhere) return false;
  value_ = rest_.substr(0, value);
  rest_.remove_prefix(value);
  return true;
}

std::string picked_text(std::string_view object, const MemberNames& names) {
  std::string text = "{";
  MemberScan scan(object);
  while (scan.next()) {
    std::string inner;
    const bool wanted = std::ranges::find(names, scan.name()) != names.end();
    if (!wanted) {
      MemberNames below;
      for (const std::string_view name : names) {
        const bool is_below =
            name.size() > scan.name().size() && name[scan.name().size()] == '.' && name.starts_with(scan.name());
        if (is_below) below.push_back(name.substr(scan.name().size() + 1));
      }
      if (below.empty()) continue;
      inner = picked_text(scan.value(), below);
      if (inner.empty()) continue;
    }
    text += text.size() == 1 ? "\"" : ",\"";
    text += scan.name();
    text += "\":";
    text += wanted ? scan.value() : std::string_view(inner);
  }
  if (!scan.is_whole()) return {};
  text += '}';
  return text;
}

Json picked(std::string_view object, const MemberNames& names) {
  return Json::parse(picked_text(object, names), nullptr, false);
}

}  // namespace sallyport
