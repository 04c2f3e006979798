#include <array>

#include "core/policy/hardening/hardeners.h"
#include "core/policy/hardening/options.h"

namespace sallyport::hardening {
namespace {

// First, so that nothing before it can count; there is no option that takes it back.
constexpr std::array<std::string_view, 1> kRipgrepFixed = {"--no-config"};
constexpr std::string_view kShortsWithValue = "ABCEMTdefgjmrt";

struct RipgrepRefused {
  std::string_view option;
  std::string_view why;
};
// ripgrep takes no abbreviations, so exact names are enough ("--pretty" is another option than "--pre").
constexpr auto kRipgrepRefused = std::to_array<RipgrepRefused>({
    RipgrepRefused{"--pre", "it starts a program for every file"},
    RipgrepRefused{"--hostname-bin", "it starts a program"},
    RipgrepRefused{"--search-zip", "it starts decompressors found by PATH"},
});

}  // namespace

Result<HardenedCommand> harden_ripgrep(Argv argv) {
  const Argv arguments = argv.subspan(1);
  for (const std::string& argument : arguments.first(count_option_arguments(arguments))) {
    const std::string_view name = split_long(argument).name;
    for (const RipgrepRefused& refused : kRipgrepRefused) {
      if (name != refused.option) continue;
      return fail(refused_argument("rg", argument, refused.why, "leave it out; unpack or convert files beforehand"));
    }
    if (has_short(argument, 'z', kShortsWithValue)) {
      return fail(refused_argument("rg", argument, "-z starts decompressors found by PATH", "unpack files beforehand"));
    }
  }
  return HardenedCommand{.argv = insert_after(argv, 0, kRipgrepFixed), .env = {}};
}

std::vector<HardeningFact> ripgrep_facts() {
  std::vector<HardeningFact> facts = {
      {HardeningFact::Kind::kForced, kRipgrepFixed[0], "a configuration file could name a program (--pre)"},
      {HardeningFact::Kind::kRefused, "-z, also in a cluster", "it is --search-zip"},
  };
  for (const RipgrepRefused& refused : kRipgrepRefused) {
    facts.push_back({HardeningFact::Kind::kRefused, refused.option, refused.why});
  }
  return facts;
}

}  // namespace sallyport::hardening
