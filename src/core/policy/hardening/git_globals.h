// What a caller may say before a git command's name: where git goes, and settings that only change how something looks.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "core/policy/hardening/hardeners.h"

namespace sallyport::hardening {

struct GitGlobals {
  std::size_t count = 0;              // of the caller's arguments, they stand before the command's name
  std::filesystem::path directory{};  // where -C leads, counted from the working directory
  std::filesystem::path work_tree{};
  bool names_git_dir = false;
  std::vector<FileRule> files{};  // each place must lie inside the repo: the gate checks it where it is known
};

// Every other option is refused: --config-env, --exec-path, --paginate, --namespace and whatever a later git adds.
[[nodiscard]] Result<GitGlobals> read_git_globals(Argv arguments);

// The keys that -c may set, as rows for the documents.
struct GitCallerKey {
  std::string_view key;    // "section.name" in lower case; a name "*" is any
  std::string_view value;  // the only one that may be given; empty: any
};
[[nodiscard]] std::span<const GitCallerKey> git_caller_keys();

}  // namespace sallyport::hardening
