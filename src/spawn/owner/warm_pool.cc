#include "spawn/owner/warm_pool.h"

#include <algorithm>
#include <utility>

namespace sallyport::spawn {
namespace {

JailShape whole_shape(const LaunchSpec& spec) {
  const auto& jail = std::get<JailPlace>(spec.place);
  return {.root_ops = jail.root_ops,
          .network = spec.network,
          .landlock_writable = jail.landlock_writable,
          .seccomp = jail.seccomp,
          .allow_speculation = jail.allow_speculation,
          .joins_cgroups = !spec.cgroup_procs_fds.empty(),
          .whole = true};
}

// The layers of a workspace belong to one run at a time, and a jail that waits with them mounted is such a run.
bool must_not_wait(const LaunchSpec& spec) {
  const auto* const jail = std::get_if<JailPlace>(&spec.place);
  return jail == nullptr ||
         std::ranges::any_of(jail->root_ops, [](const RootOp& op) { return op.kind == wire::OpKind::kOverlay; });
}

}  // namespace

std::shared_ptr<HelperClient> WarmPool::client_for(const LaunchSpec& spec) {
  if (jails_ == 0 || must_not_wait(spec)) return nullptr;
  Retired retired;  // destroyed without the lock
  const std::scoped_lock lock(mutex_);
  if (client_ && shape_.fits(spec)) {
    wanted_.reset();
    ++counts_.warm;
    return client_;
  }
  ++counts_.cold;
  if (wanted_ && wanted_->fits(spec)) {
    // The jails serve the next run; this run would wait for one as long as for its own jail. If the pool cannot start,
    // the run under way fails in the same way and reports it.
    static_cast<void>(start(*std::exchange(wanted_, std::nullopt), retired));
  } else {
    wanted_ = whole_shape(spec);
  }
  return nullptr;
}

Status WarmPool::prepare(const LaunchSpec& spec) {
  if (jails_ == 0 || must_not_wait(spec)) return {};
  Retired retired;
  const std::scoped_lock lock(mutex_);
  if (client_ && shape_.fits(spec)) return {};
  return start(whole_shape(spec), retired);
}

void WarmPool::drop_unsound(const std::shared_ptr<HelperClient>& client) {
  Retired retired;
  const std::scoped_lock lock(mutex_);
  --counts_.warm;
  ++counts_.spoiled;
  if (client_ == client) drop(retired);
}

WarmCounts WarmPool::counts() {
  const std::scoped_lock lock(mutex_);
  return counts_;
}

Status WarmPool::start(JailShape shape, Retired& retired) {
  drop(retired);
  shape.fail_at_for_tests = fault_;
  auto client = std::make_shared<HelperClient>(wire::HelperKind::kInits, [shape] { return shape; }, jails_);
  TRY(client->start_ahead());
  client_ = std::move(client);
  shape_ = std::move(shape);
  return {};
}

// Runs under way keep the client alive; its idle jails end when the last of these runs ends.
void WarmPool::drop(Retired& retired) { retired = std::exchange(client_, nullptr); }

}  // namespace sallyport::spawn
