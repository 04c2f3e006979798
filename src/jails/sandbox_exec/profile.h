// The macOS jail's sandbox profile (SBPL), a pure function of the view: everything is denied, and rules open what the run needs.
//
// The text contains no path of the caller. Each path is a parameter (-D NAME=path) that a rule refers to, so no name,
// whatever its characters, can become a rule. A rule that opens a directory lists what is closed inside as exceptions,
// so the order of rules does not matter. The profile denies renaming what a rule names, or a directory above it.
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
  std::string executable{};   // the program that it starts
  // The port of our proxy on loopback, when hosts are allowed. Without it the whole network is closed.
  std::optional<std::uint16_t> proxy_port{};
};

// What the tool may do with one host path.
struct Place {
  enum class Access { kHidden, kRead, kWrite };
  std::string path{};
  Access access = Access::kRead;
  bool is_directory = true;
  bool no_exec = false;
};

// One place for each path of the caller and the run, parents before children. System paths are in profile.cc.
[[nodiscard]] std::vector<Place> places_of(const Inputs& inputs);

[[nodiscard]] Profile render(const Inputs& inputs);

// The whole command: `launcher`, the profile, its parameters, then `command`.
[[nodiscard]] std::vector<std::string> render_argv(const std::string& launcher, const Profile& profile,
                                                   const std::vector<std::string>& command);

}  // namespace sallyport::sandbox_exec
