// Starts a jail whose wrapper carries frames to our init inside over its stdin and stdout (wire/frame.h). No descriptor
// gets in, so frames bring the init its launch image. The image says whether the tool's stdin is the null device, which
// the init then opens itself.
#pragma once

#include <memory>

#include "sallyport/jail_port.h"
#include "spawn/owner/jail_supply.h"
#include "spawn/wire/launch_spec.h"

namespace sallyport::spawn {

class FramedStart {
 public:
  // `wrapper` is the command that builds the jail, `inner` what our init does in it.
  FramedStart(LaunchSpec wrapper, LaunchSpec inner) : wrapper_(std::move(wrapper)), inner_(std::move(inner)) {}

  // Call once. This object must outlive the run. A negative `streams.in` is the null device.
  [[nodiscard]] Result<std::unique_ptr<LiveRun>> start(JailSupply& supply, const ToolStreams& streams);

 private:
  LaunchSpec wrapper_;
  const LaunchSpec inner_;
  UniqueFd image_{};
  UniqueFd null_device_{};
};

}  // namespace sallyport::spawn
