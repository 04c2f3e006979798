#include "core/policy/hardening/table.h"

#include <algorithm>
#include <array>

namespace sallyport::hardening {

extern const HardeningRow kGitHardening;
extern const HardeningRow kNpmHardening;
extern const HardeningRow kNpxHardening;
extern const HardeningRow kRipgrepHardening;
extern const HardeningRow kSemgrepHardening;
extern const HardeningRow kGitleaksHardening;
extern const HardeningRow kDockerHardening;
extern const HardeningRow kAstGrepHardening;
extern const HardeningRow kScipTypescriptHardening;
extern const HardeningRow kSyftHardening;
extern const HardeningRow kGrypeHardening;
extern const HardeningRow kTreeSitterHardening;
extern const HardeningRow kStraceHardening;
extern const HardeningRow kNodeHardening;
extern const HardeningRow kJailedHardening;
extern const HardeningRow kJqHardening;

std::optional<GitQuestion> of_a_tool_that_starts_git(Argv /*argv*/) {
  return GitQuestion{.argv = {"git", "config", "--list", "-z"}, .enters_submodules = true};
}

namespace {

Result<HardenedCommand> harden_nothing(Argv argv) {
  return HardenedCommand{.argv = {argv.begin(), argv.end()}, .env = {}};
}

std::vector<HardeningFact> no_facts() { return {}; }

constexpr HardeningRow kUnhardened{.name = kNoHardening, .harden = by_argv<harden_nothing>, .facts = no_facts};

// In the order in which a message lists them.
constexpr auto kTable = std::to_array<const HardeningRow*>(
    {&kUnhardened, &kGitHardening, &kNpmHardening, &kNpxHardening, &kRipgrepHardening, &kSemgrepHardening,
     &kGitleaksHardening, &kDockerHardening, &kAstGrepHardening, &kScipTypescriptHardening, &kSyftHardening,
     &kGrypeHardening, &kTreeSitterHardening, &kStraceHardening, &kNodeHardening, &kJailedHardening, &kJqHardening});

}  // namespace

const HardeningRow* find_hardening(std::string_view name) {
  const auto found = std::ranges::find(kTable, name, &HardeningRow::name);
  return found == kTable.end() ? nullptr : *found;
}

std::vector<std::string_view> hardening_names() {
  std::vector<std::string_view> names;
  for (const HardeningRow* const row : kTable) names.push_back(row->name);
  return names;
}

}  // namespace sallyport::hardening
