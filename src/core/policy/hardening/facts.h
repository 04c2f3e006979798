// What a tool's hardening does, as rows that a reader can check. `sallyport allowlist show TOOL` prints them and
// docs/hardening.md holds them; a test compares the two. Where possible, a hardener makes its rows from the tables that
// it uses, so that a rule that is not enforced cannot be listed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sallyport::hardening {

struct HardeningFact {
  enum class Kind {
    kForced,       // the tool always gets it: an argument or a variable
    kRefused,      // a call with it is refused before anything starts
    kNeutralised,  // the repo (or its owner's files) may set it, without effect
  };
  Kind kind = Kind::kForced;
  std::string_view what;  // the option, variable, command or file, as written on a command line
  std::string_view why;   // one clause: its effect otherwise
};

// The words that a caller may pass to a tool with a closed list, for `sallyport allowlist show`.
struct AdmittedWords {
  std::vector<std::string> commands{};
  std::vector<std::string> options{};
};

[[nodiscard]] std::string_view kind_name(HardeningFact::Kind kind);

}  // namespace sallyport::hardening
