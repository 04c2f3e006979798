#include "cli/option_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace sallyport::cli {
namespace {

struct Word {
  std::string_view api;  // with its backticks, and what else must go
  std::string_view option;
};

// Replaced in this order: a phrase that contains another row's phrase stands before that row.
constexpr auto kWords = std::to_array<Word>({
    {"a check of the whole log says", "sallyport audit verify says"},
    {"a listing of the log has them", "sallyport audit show lists them"},
    {"a receipt's statement attests", "--predicate receipt attests"},
    {"docs/hardening.md on git", "sallyport allowlist show git"},
    {"docs/hardening.md on npm", "sallyport allowlist show npm"},
    {"make a new checkpoint of the log", "make a new one: sallyport audit checkpoint"},
    {"make a pair of keys for the log", "sallyport audit keygen makes one"},
    {"name a copy of policies/", "sallyport allowlist init "},
    {".toml as `policy`", " > policy.toml, then run with --policy policy.toml"},
    {"name the directory of a log", "name its directory with --dir DIR"},
    {"sign with a private key", "name a private key with --key"},
    {"with a new pair of keys", "with sallyport audit keygen"},
    {"words of their own in `argv`:", "words of their own: sallyport run --"},
    {"the first word of `argv`", "the word after --, e.g. -- git rev-parse HEAD"},
    {"`allow_scripts`", "--allow-scripts"},
    {"`allow_unjailed`", "--allow-unjailed"},
    {"`allowed_hosts`", "--allow-host"},
    {"`Allowlist::entries`", "sallyport allowlist list"},
    {"`ast_grep_rules`", "sallyport lint --rules"},
    {"`audit`", "--audit DIR"},
    {"`container.image`", "--image"},
    {"`env_extras`", "--env"},
    {"`extra_ca`", "--ca"},
    {"`extra_read_only`", "--ro"},
    {"`extra_read_write`", "--rw"},
    {"`GitAccess::kWritable`", "--writable-git"},
    {"`hidden`", "--hide"},
    {"`jail`", "--jail"},
    {"`JailedSubprocessResult::persistence`", "--json"},
    {"`lock_hosts`", "--lock-host"},
    {"`named_workspace`", "--workspace"},
    {"`no_exec`", "--noexec"},
    {"`open_files`", "--nofile"},
    {"`policy`", "--policy"},
    {"`repo`", "--repo"},
    {"`stdin_source`", "--stdin"},
    {"`ValidateOptions::cache_dir`", "--cache"},
    {"`WorkspaceMechanism::kCopy`", "--copy"},
});

// No earlier row's phrase occurs in a later row's, and none occurs in a replacement, so no row changes another's result.
consteval bool rows_keep_apart() {
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    for (std::size_t later = i + 1; later < kWords.size(); ++later) {
      if (kWords.at(later).api.find(kWords.at(i).api) != std::string_view::npos) return false;
    }
    for (const Word& word : kWords) {
      if (word.option.find(kWords.at(i).api) != std::string_view::npos) return false;
    }
  }
  return true;
}
static_assert(rows_keep_apart());

void replace_each(std::string& text, std::string_view old, std::string_view with) {
  for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + with.size())) {
    text.replace(at, old.size(), with);
  }
}

std::string invalid(std::string_view field) { return fmt::format("invalid {}: ", field); }

// The member that a row is for: "extra_ca", "cache_dir"; empty for one of words.
std::string_view field_of(const Word& word) {
  if (!word.api.starts_with('`') || !word.api.ends_with('`')) return {};
  const std::string_view name = word.api.substr(1, word.api.size() - 2);
  return name.substr(name.rfind(':') + 1);
}

// What an error's `field` is to a user of the CLI: "ro" for `extra_read_only`. The CLI's own fields are words already.
std::string field_in_options(std::string_view field) {
  const auto row = std::ranges::find(kWords, field, field_of);
  if (row == kWords.end() || !row->option.starts_with("--")) return std::string(field);
  const std::string_view option = row->option.substr(2);
  std::string word(option.substr(0, option.find(' ')));
  std::ranges::replace(word, '-', '_');
  return word;
}

// "invalid extra_read_only: …", also where a job has put an error's message into a longer text.
void name_fields(std::string& text) {
  for (const Word& word : kWords) {
    const std::string_view field = field_of(word);
    if (!field.empty()) replace_each(text, invalid(field), invalid(field_in_options(field)));
  }
}

}  // namespace

std::string in_options(std::string text) {
  for (const Word& word : kWords) replace_each(text, word.api, word.option);
  name_fields(text);
  return text;
}

Error in_options(Error error) {
  error.hint = in_options(std::move(error.hint));
  auto* const request = std::get_if<InvalidRequest>(&error.detail);
  if (request == nullptr) return error;
  const std::string begins = invalid(request->field);
  request->field = field_in_options(request->field);
  // Only there: the rest of a message quotes what it was given.
  if (error.message.starts_with(begins)) error.message.replace(0, begins.size(), invalid(request->field));
  return error;
}

Event in_options(Event event) {
  for (auto& [name, value] : event.fields) {
    if (name == "hint") value = in_options(std::move(value));
  }
  return event;
}

std::vector<Denial> in_options(std::vector<Denial> denials) {
  for (Denial& denial : denials) denial.hint = in_options(std::move(denial.hint));
  return denials;
}

}  // namespace sallyport::cli
