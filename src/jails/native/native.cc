#include "jails/native/native.h"

#include "core/view/linux_jail.h"

namespace sallyport::native {
spawn::LaunchSpec render(const Plan& plan, const Inputs& inputs) {
  spawn::JailPlace jail;
  jail.root_ops = spawn::root_ops(inputs.view, inputs.identity_of);
  jail.cwd = plan.cwd.string();
  jail.exe = inputs.exe;
  jail.landlock_writable = writable_places(inputs.view);
  jail.seccomp = jail_seccomp(plan);
  jail.allow_speculation = plan.speculation == Speculation::kAllowed;
  spawn::LaunchSpec spec;
  spec.argv = inputs.argv;
  spec.env = env_texts(jail_env(plan));
  spec.place = std::move(jail);
  return spec;
}

spawn::JailShape render_base(const HostRoot& host) {
  spawn::JailShape shape;
  shape.root_ops = spawn::root_ops(host.base, [](const std::string&) { return std::nullopt; });
  return shape;
}

}  // namespace sallyport::native
