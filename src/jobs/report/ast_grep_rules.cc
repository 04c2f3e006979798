#include "jobs/report/ast_grep_rules.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "jobs/report/ast_grep.h"
#include "jobs/report/survey.h"

namespace sallyport::jobs {
namespace {

constexpr std::string_view kPythonRules =
#include "rules_python.inc"
    ;
constexpr std::string_view kCRules =
#include "rules_c.inc"
    ;
constexpr std::string_view kJavascriptRules =
#include "rules_javascript.inc"
    ;
constexpr std::string_view kGoRules =
#include "rules_go.inc"
    ;
constexpr std::string_view kRustRules =
#include "rules_rust.inc"
    ;

struct Language {
  std::string_view name;
  std::string_view rules;
  std::array<std::string_view, 8> extensions;
};
// As ast-grep 0.51 recognises languages: by extension alone.
constexpr auto kLanguages = std::to_array<Language>({
    {"python", kPythonRules, {"py", "py3", "pyi", "bzl"}},
    {"c", kCRules, {"c", "h"}},
    {"cpp", kCRules, {"cc", "hpp", "cpp", "c++", "hh", "cxx", "cu", "ino"}},
    {"javascript", kJavascriptRules, {"js", "jsx", "cjs", "mjs"}},
    {"typescript", kJavascriptRules, {"ts", "cts", "mts"}},
    {"tsx", kJavascriptRules, {"tsx"}},
    {"go", kGoRules, {"go"}},
    {"rust", kRustRules, {"rs"}},
});

constexpr std::string_view kPlaceholder = "language: LANGUAGE";

std::string all_rules() {
  std::string text;
  for (const Language& language : kLanguages) {
    std::string_view rest = language.rules;
    for (std::size_t at = rest.find(kPlaceholder); at != std::string_view::npos; at = rest.find(kPlaceholder)) {
      text += rest.substr(0, at);
      text += "language: ";
      text += language.name;
      rest.remove_prefix(at + kPlaceholder.size());
    }
    text += rest;
    text += "---\n";
  }
  text.resize(text.size() - 4);
  return text;
}

// Our own files, so the simplest reading will do: "key: value" at the start of a line.
std::string value_of(std::string_view document, std::string_view key) {
  const std::string wanted = "\n" + std::string(key) + ": ";
  const std::size_t at = document.find(wanted);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = document.substr(at + wanted.size());
  std::string_view value = rest.substr(0, rest.find('\n'));
  if (value.size() > 1 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
  return std::string(value);
}

std::vector<RuleInfo> read_rules() {
  std::vector<RuleInfo> rules;
  for (const std::string_view text : {kPythonRules, kCRules, kJavascriptRules, kGoRules, kRustRules}) {
    std::string rest = "\n" + std::string(text);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find("\n---\n"), rest.size());
      const std::string document = "\n" + rest.substr(0, end);
      rest.erase(0, end == rest.size() ? end : end + 4);
      rules.push_back({.id = value_of(document, "id"),
                       .severity = Severity::kHigh,
                       .summary = value_of(document, "message"),
                       .help = value_of(document, "note")});
    }
  }
  return rules;
}

const std::vector<RuleInfo>& rules() {
  static const std::vector<RuleInfo> rules = read_rules();
  return rules;
}

}  // namespace

std::string_view ast_grep_rule_text() {
  static const std::string text = all_rules();
  return text;
}

std::span<const RuleInfo> ast_grep_rules() { return rules(); }

const RuleInfo* find_ast_grep_rule(std::string_view id) {
  const auto found = std::ranges::find(rules(), id, &RuleInfo::id);
  return found == rules().end() ? nullptr : &*found;
}

bool is_source_file(std::string_view path) {
  const std::string_view wanted = extension(path);
  if (wanted.empty()) return false;
  return std::ranges::any_of(kLanguages, [&](const Language& language) {
    return std::ranges::find(language.extensions, wanted) != language.extensions.end();
  });
}

}  // namespace sallyport::jobs
