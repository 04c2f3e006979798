// Which of git's configuration keys name a program or a file, and the values that replace theirs.
//
// From Documentation/config/*.adoc of git 2.55 and the code that reads each key. Sections that can name programs are
// closed: we override every key that is not on the harmless list, known or unknown.
#pragma once

#include <span>
#include <string_view>

namespace sallyport::hardening {

struct GitKeyRule {
  std::string_view pattern;  // "section.name" or "section.*.name"; a name "*" is any
  std::string_view value;    // overrides the repo's value
  std::string_view why;
};

// The first rule whose section and name match decides, whatever the middle part is.
[[nodiscard]] std::span<const GitKeyRule> git_key_rules();

// In a closed section we override every key that is not harmless.
[[nodiscard]] bool git_section_is_closed(std::string_view section);
[[nodiscard]] bool git_key_is_harmless(std::string_view section, std::string_view name);

// True when the last part of an unknown key sounds like a program or a file: "cmd", "helper", "sslcertfile".
[[nodiscard]] bool sounds_dangerous(std::string_view name);

}  // namespace sallyport::hardening
