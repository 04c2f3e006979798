// The owner's side of a spawn helper: a small process, started on first use, that creates every child.
//
// Why: a fork from a caller with gigabytes resident copies its page tables (hundreds of ms), carries its memory and
// descriptors into the child, and a subreaper flag in the caller's own process would change how *its* children behave.
// The helper is a fresh image that has none of these; the cost of a start does not depend on the caller.
//
// One object for each kind of helper (wire::HelperKind) and each shape: a child that has started to build a jail cannot
// start a tool without one any more. A kOneRun helper is the jail's init; the next request starts another. JailSupply
// chooses between them.
//
// Thread-safe. When the helper dies, runs under way end in an error, their children are killed by the kernel, and the
// next submit() starts a new helper. Destruction closes the control socket; the helper ends once its children are dead.
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
  int in = -1;  // when negative: the null device of a jail of ours, opened inside
  int out = -1;
  int err = -1;
};

// A run under way, as its owner holds it.
struct Started {
  // Carries wire::Report to us. Its end-of-file means that nothing of the run is alive any more, or, with an `init`, that
  // this init is ending. Init may report the run's end earlier (wire::kNobodyLeft).
  UniqueFd channel{};
  // Of a jail without a helper: the jail's first process, and our child. Without one, the channel takes wire::Command
  // from us, and closing it kills the run.
  std::optional<pid_t> init{};
};

class HelperClient {
 public:
  static constexpr std::size_t kIdleChildren = 2;

  // For tools without a jail of ours.
  HelperClient() = default;
  // For jails that all have one shape. `make_shape` is called once, when the helper has been started. `kind` is kInits,
  // with so many of them kept ready, or kOneRun. `as`: of kInits, whose the tools are, when not the owner's.
  HelperClient(wire::HelperKind kind, std::function<JailShape()> make_shape, std::size_t ready = kIdleChildren,
               std::optional<UserIds> as = {})
      : kind_(kind), make_shape_(std::move(make_shape)), ready_(ready), as_(as) {}
  ~HelperClient();
  HelperClient(const HelperClient&) = delete;
  HelperClient& operator=(const HelperClient&) = delete;

  // Starts the helper before there is work for it. When that fails, submit() tries again.
  [[nodiscard]] Status start_ahead();

  [[nodiscard]] Result<Started> submit(const LaunchSpec& spec, Stdio stdio);

  // The helper does not answer: it is killed, and what it started dies with it. The next submit() starts another.
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
  // kOneRun: every init that was given a run. It leaves when its control socket is closed or we are gone.
  struct Spent {
    UniqueFd control;
    pid_t pid;
  };
  std::vector<Spent> spent_;
};

}  // namespace sallyport::spawn
