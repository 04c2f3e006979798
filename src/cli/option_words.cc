#include "cli/option_words.h"

#include <array>
#include <string_view>
#include <utility>

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
    {"`policy`", "--policy"},
    {"`repo`", "--repo"},
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

}  // namespace

std::string in_options(std::string hint) {
  for (const Word& word : kWords) {
    for (std::size_t at = hint.find(word.api); at != std::string::npos; at = hint.find(word.api, at)) {
      hint.replace(at, word.api.size(), word.option);
    }
  }
  return hint;
}

Error in_options(Error error) {
  error.hint = in_options(std::move(error.hint));
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
