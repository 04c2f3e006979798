// The owner's side of a spawn helper: a small process, started on first use, that creates every child.
//
// Why: a fork from a caller with gigabytes resident copies its page tables (hundreds of ms), carries its memory and
// descriptors into the child, and a subreaper flag in the caller's own process would change how *its* children behave.
// The helper is a fresh image that has none of these; the cost of a start does not depend on the caller.
//
// One object for each kind of helper (wire::HelperKind) and each shape: a child that has started to build a jail can no
// longer start a tool without one. A kOneRun helper is the jail's init; the next request starts another. JailSupply
// chooses between them.
//
// Thread-safe. When the helper dies, runs under way end in an error, their children are killed by the kernel, and the
// next submit() starts a new helper. The destructor closes the control socket; the helper ends once its children are
// dead.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"
#include "spawn/owner/start_helper.h"
#include "spawn/wire/launch_spec.h"

namespace sallyport::spawn {

struct Stdio {
  int in = -1;  // negative: the null device, opened inside a jail of ours
  int out = -1;
  int err = -1;
};

// A run under way, as its owner holds it.
struct Started {
  // Carries wire::Report to us. End-of-file means that no process of the run is alive, or, with an `init`, that this
  // init is ending. Init may report the run's end earlier (wire::kNobodyLeft).
  UniqueFd channel{};
  // For a jail without a helper: the jail's first process, and our child. If not set, we send wire::Command over the
  // channel, and closing it kills the run.
  std::optional<pid_t> init{};
};

class HelperClient {
 public:
  static constexpr std::size_t kIdleChildren = 2;

  // For tools without a jail of ours.
  HelperClient() = default;
  // For jails that all have one shape. Calls `make_shape` once, when it has started the helper. `kind` is kInits, with
  // `ready` of them kept ready, or kOneRun. `as`: for kInits, the user that the tools run as, when it is not the owner.
  HelperClient(wire::HelperKind kind, std::function<JailShape()> make_shape, std::size_t ready = kIdleChildren,
               std::optional<UserIds> as = {})
      : kind_(kind), make_shape_(std::move(make_shape)), ready_(ready), as_(as) {}
  ~HelperClient();
  HelperClient(const HelperClient&) = delete;
  HelperClient& operator=(const HelperClient&) = delete;

  // Starts the helper before there is work for it. When that fails, submit() tries again.
  [[nodiscard]] Status start_ahead();

  [[nodiscard]] Result<Started> submit(const LaunchSpec& spec, Stdio stdio);

  // Call when the helper does not answer: kills it, and with it all that it started. The next submit() starts another.
  void abandon();

  // For tests: the helper's pid, 0 when none runs.
  [[nodiscard]] pid_t helper_pid();

 private:
  [[nodiscard]] Status ensure_running();
  [[nodiscard]] Status adopt(NewHelper started);
  [[nodiscard]] Status send_shape();
  [[nodiscard]] const JailShape& shape();
  void reap_helper();

  const wire::HelperKind kind_ = wire::HelperKind::kWorkers;
  const std::function<JailShape()> make_shape_;
  std::once_flag shape_made_;
  JailShape shape_;  // through shape()
  const std::size_t ready_ = kIdleChildren;
  const std::optional<UserIds> as_{};
  std::mutex mutex_;
  UniqueFd control_;
  pid_t pid_ = 0;
  // kOneRun: every init that got a run. Such an init exits when its control socket is closed or we are gone.
  struct Spent {
    UniqueFd control;
    pid_t pid;
  };
  std::vector<Spent> spent_;
};

}  // namespace sallyport::spawn
