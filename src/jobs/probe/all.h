// Every probe, one row each.
#pragma once

#include "jobs/probe/probe.h"

namespace sallyport::jobs {

extern const Probe kRgCurated;
extern const Probe kAstGrep;
extern const Probe kGitleaks;
extern const Probe kSemgrep;
extern const Probe kSyft;
extern const Probe kGrype;
extern const Probe kScipTypescript;
extern const Probe kTestCoverage;
extern const Probe kRuntimeTrace;
// Cannot be selected: it runs after the others, over their findings.
extern const Probe kBlinding;
[[nodiscard]] ScannerOutcome look_for_blinding(const ProbeInput& input, std::span<const ProbeResult> results);

}  // namespace sallyport::jobs
