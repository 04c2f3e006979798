// Finds what a run with a writable repo, and no workspace, left there that would run later, outside (ADR 0060).
#pragma once

#include <time.h>

#include <chrono>
#include <string>
#include <vector>

#include "core/persistence/judge.h"
#include "sallyport/event.h"
#include "sallyport/plan.h"
#include "sallyport/workspace.h"

namespace sallyport {

struct PersistenceReview {
  std::vector<PersistenceFinding> findings{};
  std::string incomplete{};  // why the repo was not searched; empty: it was
};

class PersistenceWatch {
 public:
  // Make it before the run; it does nothing when the repo is not writable.
  explicit PersistenceWatch(const Plan& plan);
  // Call after the run: judges files that changed since. The rules that matter most also judge the content of changed
  // directories, since a directory can be renamed with everything in it.
  [[nodiscard]] PersistenceReview review(std::chrono::steady_clock::time_point deadline,
                                         persistence::GitPointers pointers) const;

 private:
  const Plan& plan_;
  timespec started_{};
};

void emit_persistence(EventSink* events, const PersistenceReview& review);

}  // namespace sallyport
