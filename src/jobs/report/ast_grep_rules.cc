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

// Extensions that other tools recognise and ast-grep does not.
struct Alias {
  std::string_view extension;
  std::string_view read_as;
};
constexpr auto kAliases = std::to_array<Alias>({
    {"pyw", "py"}, {"pyx", "py"}, {"wsgi", "py"}, {"C", "cc"},   {"H", "cc"},   {"hxx", "cc"},  {"h++", "cc"},
    {"inl", "cc"}, {"ipp", "cc"}, {"tpp", "cc"},  {"txx", "cc"}, {"tcc", "cc"}, {"cppm", "cc"}, {"ixx", "cc"},
    {"inc", "cc"}, {"cp", "cc"},  {"es6", "js"},  {"es", "js"},  {"jsm", "js"}, {"ssjs", "js"}, {"cuh", "cc"},
});

bool is_known_extension(std::string_view wanted) {
  if (wanted.empty()) return false;
  return std::ranges::any_of(kLanguages, [&](const Language& language) {
    return std::ranges::find(language.extensions, wanted) != language.extensions.end();
  });
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

// By the interpreter that a script names: "#!/usr/bin/env -S node --x", "#!/usr/bin/python3".
std::string_view by_first_line(std::string_view line) {
  if (!line.starts_with("#!")) return {};
  const auto names = [&](std::string_view program) { return line.find(program) != std::string_view::npos; };
  if (names("python") || names("pypy")) return "py";
  if (names("ts-node") || names("tsx") || names("deno") || names("bun")) return "ts";
  return names("node") ? "js" : "";
}

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

// These are our own files, so a simple parser is enough: "key: value" at the start of a line.
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

bool is_source_file(std::string_view path) { return is_known_extension(extension(path)); }

std::string_view read_as(std::string_view path, std::string_view content) {
  const std::string_view wanted = extension(path);
  if (wanted.empty()) return by_first_line(content.substr(0, content.find('\n')));
  const auto* const alias = std::ranges::find(kAliases, wanted, &Alias::extension);
  if (alias != kAliases.end()) return alias->read_as;
  const std::string lower = lower_case(wanted);
  const auto* const same = std::ranges::find(kAliases, lower, &Alias::extension);
  if (same != kAliases.end()) return same->read_as;
  for (const Language& language : kLanguages) {
    const auto* const known = std::ranges::find(language.extensions, lower);
    if (known != language.extensions.end()) return *known;
  }
  return {};
}

bool may_be_read_as(const SurveyedFile& file) {
  if (file.size == 0 || is_source_file(file.path) || file.path.starts_with(".git/")) return false;
  const std::string_view wanted = extension(file.path);
  return wanted.empty() || !read_as(file.path, {}).empty();
}

}  // namespace sallyport::jobs
