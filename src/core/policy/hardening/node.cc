// node runs the code that it gets: that is its purpose, so it may run only in a jail. The same holds for the compilers,
// build systems and test runners of the ready policies (hardening "jailed", ADR 0045).
#include <algorithm>
#include <array>

#include "core/policy/hardening/facts.h"
#include "core/policy/hardening/hardeners.h"

namespace sallyport::hardening {
namespace {

constexpr std::string_view kNodeRunsCode = "it runs the repo's code with your rights";
constexpr std::array<std::string_view, 4> kNodeHarmless = {"--version", "-v", "--help", "-h"};

Result<HardenedCommand> harden_node(Argv argv) {
  HardenedCommand out{.argv = {argv.begin(), argv.end()}, .env = {}};
  const bool harmless = argv.size() == 2 && std::ranges::find(kNodeHarmless, argv[1]) != kNodeHarmless.end();
  if (!harmless) out.needs_jail = std::string(kNodeRunsCode);
  return out;
}

std::vector<HardeningFact> node_facts() {
  return {{HardeningFact::Kind::kRefused, "everything but --version and --help without a jail", kNodeRunsCode}};
}

}  // namespace

extern constinit const HardeningRow kNodeHardening{.name = "node", .harden = by_argv<harden_node>, .facts = node_facts};
extern constinit const HardeningRow kJailedHardening{
    .name = "jailed", .harden = by_argv<harden_node>, .facts = node_facts};

}  // namespace sallyport::hardening
