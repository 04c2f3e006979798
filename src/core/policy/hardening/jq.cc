// jq starts no program and writes no file. What remains is jq code: ~/.jq and modules, found by `import`.
#include "core/policy/hardening/facts.h"
#include "core/policy/hardening/hardeners.h"

namespace sallyport::hardening {
namespace {

// Nothing to add: a jq program can only read its input and the modules that the caller names.
Result<HardenedCommand> harden_jq(Argv argv) { return HardenedCommand{.argv = {argv.begin(), argv.end()}, .env = {}}; }

std::vector<HardeningFact> jq_facts() {
  return {{HardeningFact::Kind::kNeutralised, "modules in the repo",
           "jq looks for them in ~/.jq and beside itself only, unless the caller says -L"}};
}

}  // namespace

extern constinit const HardeningRow kJqHardening{.name = "jq", .harden = by_argv<harden_jq>, .facts = jq_facts};

}  // namespace sallyport::hardening
