// git's configuration keys, judged: which ones name a program or a file, and what takes their place.
//
// From Documentation/config/*.adoc of git 2.55 and the code that reads each key. In the sections where programs are named
// the world is closed: a key that is not on the harmless list is overridden, known or not.
#pragma once

#include <span>
#include <string_view>

namespace sallyport::hardening {

struct GitKeyRule {
  std::string_view pattern;  // "section.name" or "section.*.name"; a name "*" is any
  std::string_view value;    // what outranks the repo's
  std::string_view why;
};

// The first rule whose section and name match decides, whatever stands between them.
[[nodiscard]] std::span<const GitKeyRule> git_key_rules();

// In a closed section every key that is not harmless is overridden.
[[nodiscard]] bool git_section_is_closed(std::string_view section);
[[nodiscard]] bool git_key_is_harmless(std::string_view section, std::string_view name);

// Whether the last part of an unknown key sounds like a program or a file: "cmd", "helper", "sslcertfile".
[[nodiscard]] bool sounds_dangerous(std::string_view name);

}  // namespace sallyport::hardening
