// Programs that stand in for others: pyenv, asdf, rustup and volta put a small one of their own in the search path, which
// finds the chosen version in the user's home and starts it. In a jail it would find nothing, and what it starts was never
// judged; so the gate follows it to the program itself. nvm, pipx and uv need no following: theirs are the programs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace sallyport {

// The program behind `found`, which was found in the search path by the name `name`; nullopt when it is no stand-in that
// we know. The version is the user's own global choice, never the analysed repo's (.python-version, .tool-versions,
// rust-toolchain): a repo must not choose what runs. The caller judges the result like any other file.
[[nodiscard]] std::optional<std::filesystem::path> behind_version_manager(const std::filesystem::path& found,
                                                                          const std::string& name);

}  // namespace sallyport
