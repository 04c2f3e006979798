#include "jails/none/none.h"

#include <utility>

namespace sallyport::none {

spawn::LaunchSpec render(const Plan& plan, Inputs inputs) {
  spawn::LaunchSpec spec;
  spec.argv = std::move(inputs.argv);
  for (const EnvVar& var : plan.env) spec.env.push_back(var.name + "=" + var.value);
  spec.place = spawn::NoJailPlace{.exe_fd = inputs.exe_fd, .cwd_fd = inputs.cwd_fd};
  return spec;
}

std::vector<Established> establishes() {
  return {{Guarantee::kExecAllowlisted, "gate"},
          {Guarantee::kExecPinned, "descriptor"},
          {Guarantee::kEnvStripped, "gate"},
          {Guarantee::kProcNoNewPrivs, "prctl"},
          {Guarantee::kProcDiesWithParent, "subreaper"},
          {Guarantee::kLimitWall, "supervisor"},
          {Guarantee::kLimitOutput, "supervisor"}};
}

}  // namespace sallyport::none
