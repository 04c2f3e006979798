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

constexpr auto kWords = std::to_array<Word>({
    {"`allow_unjailed`", "--allow-unjailed"},
    {"`allowed_hosts`", "--allow-host"},
    {"`audit`", "--audit DIR"},
    {"the first word of `argv`", "the word after --, e.g. -- git rev-parse HEAD"},
    {"`container.image`", "--image"},
    {"`cwd`", "--cwd"},
    {"`env_extras`", "--env"},
    {"`extra_read_only`", "--ro"},
    {"`extra_read_write`", "--rw"},
    {"`GitAccess::kWritable`", "--writable-git"},
    {"`hidden`", "--hide"},
    {"`jail`", "--jail"},
    {"`no_exec`", "--noexec"},
    {"`policy`", "--policy"},
    {"`repo`", "--repo"},
    {"`WorkspaceMechanism::kCopy`", "--copy"},
});

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
