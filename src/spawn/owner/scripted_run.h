// For tests only: a run whose every report is written down, and the supervisor over it.
#pragma once

#include <unistd.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "os/event_fd.h"
#include "spawn/owner/supervise.h"

namespace sallyport::spawn {

struct Script {
  std::deque<std::function<Result<RunReport>(const ToolStreams&)>> reports{};  // one for each next()
  std::function<void(StopStep, Script&)> on_stop{};
  std::vector<StopStep> stops{};
};

inline RunReport started() { return ToolStarted{}; }
inline RunReport exited(int code) { return ToolEnded{.wait_status = code << 8, .is_last = true}; }

class ScriptedRun final : public LiveRun {
 public:
  ScriptedRun(Script& script, const ToolStreams& streams)
      : script_(script), streams_{.in = streams.in, .out = ::dup(streams.out), .err = ::dup(streams.err)} {
    if (!script_.reports.empty()) news_.signal();
  }
  ~ScriptedRun() override {
    ::close(streams_.out);
    ::close(streams_.err);
  }
  [[nodiscard]] int event_fd() const override { return script_.reports.empty() ? quiet_.fd() : news_.fd(); }
  [[nodiscard]] Result<RunReport> next() override {
    if (script_.reports.empty()) return RunReport(RunGone{});
    const auto report = std::move(script_.reports.front());
    script_.reports.pop_front();
    return report(streams_);
  }
  void stop(StopStep step) override {
    script_.stops.push_back(step);
    if (script_.on_stop) script_.on_stop(step, script_);
    if (!script_.reports.empty()) news_.signal();
  }

 private:
  Script& script_;
  const ToolStreams streams_;
  const EventFd news_ = EventFd::create().value();
  const EventFd quiet_ = EventFd::create().value();
};

class ScriptedStage final : public StagedRun {
 public:
  explicit ScriptedStage(Script& script) : script_(script) {}
  [[nodiscard]] std::vector<Established> would_establish() const override { return {}; }
  [[nodiscard]] Result<std::unique_ptr<LiveRun>> start(const ToolStreams& streams) override {
    return std::make_unique<ScriptedRun>(script_, streams);
  }

 private:
  Script& script_;
};

inline Result<Ended> run(Script& script, Supervision how = {}, const std::stop_token& stop = {}) {
  if (how.wall == std::chrono::milliseconds(0)) how.wall = std::chrono::seconds(60);
  if (how.max_output == ByteCount{0}) how.max_output = mebibytes(1);
  how.jail = JailKind("scripted");
  ScriptedStage stage(script);
  return supervise(stage, how, stop);
}

}  // namespace sallyport::spawn
