// Reads a sandbox profile as far as ours go: balanced expressions, known operations and filters, every parameter defined and
// used. Stricter than macOS's own reader, which takes any Scheme.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sallyport::test {

// An atom, a "string", a #"pattern", or a list.
struct Expression {
  enum class Kind { kAtom, kString, kPattern, kList } kind = Kind::kList;
  std::string text{};
  std::vector<Expression> parts{};

  [[nodiscard]] bool is_list_of(std::string_view head) const {
    return kind == Kind::kList && !parts.empty() && parts[0].kind == Kind::kAtom && parts[0].text == head;
  }
};

// What is wrong with the text; empty: nothing. Then `expressions` are its rules.
[[nodiscard]] std::string parse_profile(std::string_view text, std::vector<Expression>& expressions);

// What is wrong with a profile and its parameters; empty: nothing.
[[nodiscard]] std::string problem_in_profile(std::string_view text,
                                             const std::map<std::string, std::string>& parameters);

}  // namespace sallyport::test
