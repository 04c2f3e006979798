#include "jobs/lint/exceptions.h"

#include <fmt/format.h>

#include <algorithm>

#include "jobs/report/ast_grep.h"
#include "jobs/report/text.h"

namespace sallyport::jobs {
namespace {

constexpr std::string_view kBlanks = " \t";

Error exception_error(std::string_view file, unsigned line, std::size_t column, std::string_view why,
                      std::string_view hint) {
  return {.detail = PolicyError{.file = std::string(file), .line = line, .column = static_cast<unsigned>(column)},
          .message = fmt::format("invalid exceptions {}:{}:{}: {}", shown(file), line, column, why),
          .hint = std::string(hint)};
}

std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  const std::size_t end = std::min(rest.find_first_of(kBlanks), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::size_t end = text.find_last_not_of(kBlanks);
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

}  // namespace

Result<std::vector<Exception>> parse_exceptions(std::string_view text, std::string_view file) {
  std::vector<Exception> exceptions;
  for (unsigned number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (trimmed(line).empty() || trimmed(line).starts_with('#')) continue;
    std::string_view rest = line;
    const std::string_view rule = take_word(rest);
    const std::string_view path = take_word(rest);
    const std::string_view reason = trimmed(rest);
    const auto column = [&](std::string_view part) { return static_cast<std::size_t>(part.data() - line.data()) + 1; };
    if (path.empty()) {
      return fail(exception_error(file, number, line.size() + 1, "no path", "write RULE PATH REASON"));
    }
    if (rule != "*" && std::ranges::find(ast_grep_rules(), rule, &RuleInfo::id) == ast_grep_rules().end()) {
      return fail(exception_error(file, number, column(rule), fmt::format("there is no rule '{}'", shown(rule)),
                                  "`ast_grep_rules` lists them"));
    }
    if (reason.empty()) {
      return fail(exception_error(file, number, line.size() + 1, "no reason", "say why this is no mistake"));
    }
    exceptions.push_back(
        {.rule = std::string(rule), .path = std::string(path), .reason = std::string(reason), .line = number});
  }
  return exceptions;
}

// Iterative, with one backtracking point per kind of star, so that no pattern takes exponential time.
bool path_matches(std::string_view pattern, std::string_view path) {
  std::size_t p = 0;
  std::size_t s = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_at = 0;
  std::size_t deep = std::string_view::npos;
  std::size_t deep_at = 0;
  while (true) {
    if (p < pattern.size() && pattern.substr(p).starts_with("**")) {
      deep = p += 2;
      deep_at = s;
      star = std::string_view::npos;
      if (p == pattern.size()) return true;
      continue;
    }
    if (p < pattern.size() && pattern[p] == '*') {
      star = ++p;
      star_at = s;
      continue;
    }
    if (p == pattern.size() && s == path.size()) return true;
    if (p < pattern.size() && s < path.size() && (pattern[p] == path[s] || (pattern[p] == '?' && path[s] != '/'))) {
      ++p;
      ++s;
      continue;
    }
    if (star != std::string_view::npos && star_at < path.size() && path[star_at] != '/') {
      p = star;
      s = ++star_at;
      continue;
    }
    if (deep == std::string_view::npos || deep_at >= path.size()) return false;
    p = deep;
    s = ++deep_at;
    star = std::string_view::npos;
  }
}

}  // namespace sallyport::jobs
