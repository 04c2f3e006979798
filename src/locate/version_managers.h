// Version managers' shims: pyenv, asdf, rustup and volta put a small program of their own in the search path, which
// finds the chosen version in the user's home and starts it. In a jail the shim would find nothing, and nobody has
// judged what it starts; so the gate finds the program itself. nvm, pipx and uv put the programs themselves there.
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
