// The macOS jail's sandbox profile (SBPL), a pure function of the view: everything is denied, and rules open what the run needs.
//
// No path of the caller stands in the text. Each is a parameter (-D NAME=path) that a rule refers to, so no name, whatever
// characters it has, can become a rule. A rule that opens a directory names as exceptions what is closed inside it, so nothing
// depends on the order of rules; renaming what a rule names, or a directory above it, is denied.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/view/fs_view.h"

namespace sallyport::sandbox_exec {

struct Parameter {
  std::string name{};
  std::string value{};
  bool operator==(const Parameter&) const = default;
};

struct Profile {
  std::string text{};
  std::vector<Parameter> parameters{};
};

struct Inputs {
  const std::vector<ViewEntry>& view;
  std::string private_dir{};  // holds the run's own "tmp" and "home"
  std::string init{};         // our own program inside, which starts the tool
  std::string executable{};   // what it starts
  // Of our proxy on loopback, when hosts are allowed. Without it nothing of the network is open.
  std::optional<std::uint16_t> proxy_port{};
};

// What one host path is to the tool.
struct Place {
  enum class Access { kHidden, kRead, kWrite };
  std::string path{};
  Access access = Access::kRead;
  bool is_directory = true;
  bool no_exec = false;
};

// Of the caller's and the run's own paths, one for each, parents before children. The system's are macOS's own: see profile.cc.
[[nodiscard]] std::vector<Place> places_of(const Inputs& inputs);

[[nodiscard]] Profile render(const Inputs& inputs);

// The whole command: `launcher`, the profile, its parameters, then `command`.
[[nodiscard]] std::vector<std::string> render_argv(const std::string& launcher, const Profile& profile,
                                                   const std::vector<std::string>& command);

}  // namespace sallyport::sandbox_exec
