// What a caller may pass before a git command's name: -C and similar, and settings that only change the output's look.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "core/policy/hardening/hardeners.h"

namespace sallyport::hardening {

struct GitGlobals {
  std::size_t count = 0;              // how many of the caller's arguments come before the command's name
  std::filesystem::path directory{};  // where -C leads, relative to the working directory
  std::filesystem::path work_tree{};
  bool names_git_dir = false;
  std::vector<FileRule> files{};  // each must lie inside the repo: the gate checks that on the file system
};

// Refuses every other option: --config-env, --exec-path, --paginate, --namespace and whatever a later git adds.
[[nodiscard]] Result<GitGlobals> read_git_globals(Argv arguments);

// The keys that -c may set, as rows for the documents.
struct GitCallerKey {
  std::string_view key;    // "section.name" in lower case; a name "*" is any
  std::string_view value;  // the only allowed value; empty: any
};
[[nodiscard]] std::span<const GitCallerKey> git_caller_keys();

}  // namespace sallyport::hardening
