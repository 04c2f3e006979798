// Stands in for macOS's sandbox-exec: reads the profile and its parameters, refuses what it does not understand with that
// program's words and exit codes, then executes the command. It confines nothing.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "posix/profile_grammar.h"

namespace {

int refuse(int code, const std::string& why) {
  std::fprintf(stderr, "sandbox-exec: %s\n", why.c_str());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kUsage = 64;
  constexpr int kData = 65;
  constexpr int kSystem = 71;
  std::string profile;
  std::map<std::string, std::string> parameters;
  for (int option = 0; (option = ::getopt(argc, argv, "+p:D:")) != -1;) {
    if (option == 'p') {
      profile = optarg;
    } else if (const char* const equals = option == 'D' ? std::strchr(optarg, '=') : nullptr) {
      parameters[std::string(optarg, static_cast<std::size_t>(equals - optarg))] = equals + 1;
    } else {
      return refuse(kUsage, "usage");
    }
  }
  if (profile.empty() || optind >= argc) return refuse(kUsage, "usage");
  // As in a process that is in a sandbox already.
  if (std::getenv("STAND_IN_IS_NESTED") != nullptr) {
    return refuse(kSystem, "sandbox_apply: Operation not permitted");
  }
  const std::string problem = sallyport::test::problem_in_profile(profile, parameters);
  if (!problem.empty()) return refuse(kData, problem);
  ::execvp(argv[optind], argv + optind);
  return refuse(kSystem, std::string("execvp() of '") + argv[optind] + "' failed: " + std::strerror(errno));
}
