#include <algorithm>
#include <array>

#include "cli/verb.h"

namespace sallyport::cli {

extern const Verb kRunVerb;
extern const Verb kExplainVerb;
extern const Verb kDoctorVerb;
extern const Verb kAllowlistVerb;
extern const Verb kProbeVerb;
extern const Verb kLintVerb;
extern const Verb kAuditVerb;
extern const Verb kWorkspaceVerb;
extern const Verb kValidateVerb;
extern const Verb kHelpVerb;

namespace {

constexpr auto kVerbs =
    std::to_array<const Verb*>({&kRunVerb, &kExplainVerb, &kDoctorVerb, &kAllowlistVerb, &kProbeVerb, &kLintVerb,
                                &kValidateVerb, &kWorkspaceVerb, &kAuditVerb, &kHelpVerb});

}  // namespace

std::span<const Verb* const> verbs() { return kVerbs; }

const Verb* find_verb(std::string_view name) {
  const auto found = std::ranges::find(kVerbs, name, &Verb::name);
  return found == kVerbs.end() ? nullptr : *found;
}

}  // namespace sallyport::cli
