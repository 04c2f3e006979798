// A run inside something that a run of ours holds: the outer run is a program in a jail whose stdin and stdout carry
// frames (wire/frame.h); the inner run is the tool that an init at the other end of those frames starts. The gate sees
// one run.
//
// We trust the outer program no more than the tool: a frame that is too large or out of turn ends the run, reports can
// say only what an init inside can know, and the run ends with the outer run.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "os/event_fd.h"
#include "sallyport/jail_kind.h"
#include "sallyport/jail_port.h"
#include "spawn/owner/frame_link.h"
#include "spawn/wire/wire.h"

namespace sallyport::spawn {

struct FramedTool {
  JailKind jail{""};                     // for messages
  std::string image{};                   // for the init inside
  std::chrono::milliseconds patience{};  // for its first report
  // Why the outer program ended before there was a tool; `scratch` is its jail's, or negative.
  std::function<std::string(int scratch)> last_words{};
};

class FramedRun final : public LiveRun {
 public:
  // `ours` is one end of the socket whose other end, `theirs`, is the outer program's stdin and stdout. The tool's streams
  // are duplicated.
  [[nodiscard]] static Result<std::unique_ptr<LiveRun>> open(std::unique_ptr<LiveRun> outer, UniqueFd ours,
                                                             UniqueFd theirs, const ToolStreams& streams,
                                                             FramedTool tool);

  [[nodiscard]] int event_fd() const override { return epoll_.get(); }
  [[nodiscard]] Result<RunReport> next() override;
  void stop(StopStep step) override;

 private:
  FramedRun(std::unique_ptr<LiveRun> outer, UniqueFd ours, UniqueFd theirs, FramedTool tool, EventFd again);

  [[nodiscard]] Status take_streams(const ToolStreams& streams);
  [[nodiscard]] Status watch(int fd, std::uint32_t events);
  void watch_again();

  [[nodiscard]] Result<std::optional<RunReport>> ask_outer();
  [[nodiscard]] std::optional<RunReport> take_frames();
  [[nodiscard]] std::optional<RunReport> take_report();
  [[nodiscard]] Result<std::optional<RunReport>> conclude();
  [[nodiscard]] Result<RunReport> never_started();
  void outer_started(ToolStarted started);
  void copy_input();
  [[nodiscard]] bool put_output();
  void check_clock();
  void give_up();

  const std::unique_ptr<LiveRun> outer_;
  FrameLink link_;
  UniqueFd theirs_;  // until the outer program has it
  const FramedTool tool_;
  const EventFd again_;  // there is more to do, although nothing has arrived
  UniqueFd epoll_;
  UniqueFd clock_;
  int outer_fd_ = -1;
  UniqueFd in_;
  UniqueFd out_;
  UniqueFd err_;
  std::size_t under_way_ = 0;  // of input
  std::size_t put_ = 0;        // bytes written of the output frame that waits
  UniqueFd scratch_;           // of the outer program's jail
  RunFacts facts_;
  bool stopped_ = false;
  bool started_ = false;
  bool failed_ = false;
  bool too_late_ = false;
  bool link_over_ = false;
  bool outer_gone_ = false;
  int outer_status_ = 0;
  std::optional<wire::Report> ended_;
};

}  // namespace sallyport::spawn
