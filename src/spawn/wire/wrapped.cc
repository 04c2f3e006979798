#include "spawn/wire/wrapped.h"

#include <optional>

#include "core/view/linux_jail.h"

namespace sallyport::spawn {

std::string init_argument(const wire::HelperStart& start) {
  char text[wire::kHelperArgumentSize];
  wire::write_helper_argument(start, text);
  return text;
}

JailPlace wrapped_place(const Plan& plan) {
  JailPlace place;
  place.wrapped = true;
  place.cwd = plan.cwd.string();
  place.seccomp = jail_seccomp(plan);
  place.allow_speculation = plan.speculation == Speculation::kAllowed;
  return place;
}

void add_identity_check(const ViewEntry& entry, const IdentityOf& identity_of, std::vector<RootOp>& ops) {
  if (entry.kind != ViewKind::kBind || !identity_of) return;
  const std::optional<FileIdentity> identity = identity_of(entry.source);
  if (identity) ops.push_back({.kind = wire::OpKind::kCheckIdentity, .target = entry.target, .identity = identity});
}

}  // namespace sallyport::spawn
