// What a tool's hardening does, as rows a reader can check. `sallyport allowlist show TOOL` prints them and
// docs/hardening.md holds them; a test compares the two. Where it can, a hardener makes its rows from the tables it
// acts on, so a rule that is not enforced cannot be listed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sallyport::hardening {

struct HardeningFact {
  enum class Kind {
    kForced,       // the tool always gets it: an argument or a variable
    kRefused,      // a caller who asks for it is refused before anything starts
    kNeutralised,  // the repo (or its owner's files) may say it, and it has no effect
  };
  Kind kind = Kind::kForced;
  std::string_view what;  // the option, variable, command or file, as written on a command line
  std::string_view why;   // one clause: what it would do otherwise
};

// What a caller may say to a tool whose words are a closed list, for `sallyport allowlist show`.
struct AdmittedWords {
  std::vector<std::string> commands{};
  std::vector<std::string> options{};
};

[[nodiscard]] std::string_view kind_name(HardeningFact::Kind kind);

}  // namespace sallyport::hardening
