// How the repo's own program is started, as its package.json says; never through a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jobs/probe/parsers.h"
#include "jobs/report/context.h"
#include "jobs/report/survey.h"

namespace sallyport::jobs {

struct StartCommand {
  std::vector<std::string> argv{};  // "node" and its arguments
  std::string file{};               // of the repo: what findings point to
  std::string why{};                // where the command was found
};

// "node FILE ARGS…" of scripts.start when it is as plain as that, else the file that "main" names, else index.js or
// server.js. Pure; takes any bytes for package.json's text.
[[nodiscard]] OrWhy<StartCommand> start_command_of(std::string_view package_json, const Survey& files);
// Of the repo. An error says why there is nothing to start.
[[nodiscard]] OrWhy<StartCommand> start_command(const JobContext& context, const Survey& files);

}  // namespace sallyport::jobs
