// A run that a spawn helper carries out: its reports and signals behind the port's LiveRun.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <vector>

#include "sallyport/jail_port.h"
#include "spawn/owner/jail_supply.h"

namespace sallyport::spawn {

class HelperRun final : public LiveRun {
 public:
  // Borrows `supply`, and borrows `spec` and the streams until the tool has started.
  HelperRun(StartedRun run, JailSupply& supply, const LaunchSpec& spec, const ToolStreams& streams)
      : run_(std::move(run)), supply_(supply), spec_(spec), streams_(streams) {}
  ~HelperRun() override;
  HelperRun(const HelperRun&) = delete;
  HelperRun& operator=(const HelperRun&) = delete;

  [[nodiscard]] int event_fd() const override { return run_.run.channel.get(); }
  [[nodiscard]] Result<RunReport> next() override;
  void stop(StopStep step) override;

 private:
  [[nodiscard]] Result<RunReport> translate(const wire::Report& report, std::vector<UniqueFd> fds);
  [[nodiscard]] Result<RunReport> failed(const wire::Report& report);
  [[nodiscard]] RunReport ended(const wire::Report& report);
  [[nodiscard]] RunReport after_last();
  void send(wire::Command command) const;

  StartedRun run_;
  JailSupply& supply_;
  const LaunchSpec& spec_;
  const ToolStreams streams_;
  bool stopped_ = false;
  bool tool_started_ = false;
  bool tool_ended_ = false;
  bool ports_redirected_ = false;
  std::optional<UserIds> sender_{};  // of the last report, when the run is another's: the kernel's word
};

// Starts a run from the best source of `supply`. A jail that was built ahead and turns out unsound is replaced before
// anything has started in it.
[[nodiscard]] Result<std::unique_ptr<LiveRun>> start_run(JailSupply& supply, const LaunchSpec& spec,
                                                         const ToolStreams& streams);

// True when such a failure means that the host lacks what a jail needs; false when the request is at fault.
[[nodiscard]] bool host_lacks(SetupStage stage, int error_number);

}  // namespace sallyport::spawn
