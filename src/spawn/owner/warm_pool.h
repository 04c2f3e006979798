// Whole jails built ahead of the runs that will use them.
//
// Runs of one owner mostly want the same jail: the same mounts, network and scratch, whatever the tool and its arguments.
// That part is the run's *shape*. The pool keeps a few jails of one shape waiting; a run of that shape only has to start
// its tool in one of them. A jail is used once and replaced in the background, never reused.
//
// When in doubt, a run gets a jail of its own: when its shape differs, or its bind sources are other files by now (a
// shape holds their identity). Waiting jails exit when the host's mounts change; see helper/init.cc.
//
// Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "sallyport/jail_port.h"
#include "spawn/owner/helper_client.h"

namespace sallyport::spawn {

class WarmPool {
 public:
  // 0: no pool; client_for() always returns null.
  explicit WarmPool(std::size_t jails) : jails_(jails) {}

  // The client that has jails for this run, kept alive by the pointer; null when the run needs its own jail. A shape
  // that two runs in a row want becomes the pool's.
  [[nodiscard]] std::shared_ptr<HelperClient> client_for(const LaunchSpec& spec);

  // Makes this the pool's shape now.
  [[nodiscard]] Status prepare(const LaunchSpec& spec);

  // A jail of `client` was not sound; drops the others too, since they were built alike.
  void drop_unsound(const std::shared_ptr<HelperClient>& client);

  [[nodiscard]] WarmCounts counts();

  // Tests only: jails are not built beyond that step.
  void fail_at_for_tests(wire::Stage stage) { fault_ = stage; }

 private:
  // Its destructor waits until idle jails are torn down, so it runs when the lock is not held.
  using Retired = std::shared_ptr<HelperClient>;

  [[nodiscard]] Status start(JailShape shape, Retired& retired);
  void drop(Retired& retired);

  const std::size_t jails_;
  std::mutex mutex_;
  JailShape shape_;                  // of client_
  std::optional<JailShape> wanted_;  // by the last run that did not fit
  std::shared_ptr<HelperClient> client_;
  WarmCounts counts_{};
  wire::Stage fault_ = wire::Stage::kNone;
};

}  // namespace sallyport::spawn
