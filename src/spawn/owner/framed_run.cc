#include "spawn/owner/framed_run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/errors.h"
#include "sallyport/outcome.h"
#include "spawn/owner/helper_run.h"

namespace sallyport::spawn {
namespace {

using wire::FrameKind;

// POLLOUT of a pipe promises room for this much; a larger write could block (pipe(7), PIPE_BUF).
constexpr std::size_t kSurelyTaken = 4096;
constexpr std::size_t kInputPiece = std::size_t{16} << 10U;

// For a descriptor that another program may have made, and that we must not make non-blocking.
short ready(int fd, short events) {
  pollfd one{fd, events, 0};
  return ::poll(&one, 1, 0) > 0 ? one.revents : short{0};
}

Result<UniqueFd> copy_of(int borrowed) {
  if (borrowed < 0) return UniqueFd();
  UniqueFd copy(::fcntl(borrowed, F_DUPFD_CLOEXEC, 3));
  if (!copy) return fail(system_error("use", "the tool's streams", errno));
  return copy;
}

std::optional<wire::Report> report_in(std::string_view bytes) {
  wire::Report report{};
  if (bytes.size() != sizeof report) return std::nullopt;
  std::memcpy(&report, bytes.data(), sizeof report);
  return report;
}

}  // namespace

FramedRun::FramedRun(std::unique_ptr<LiveRun> outer, UniqueFd ours, UniqueFd theirs, FramedTool tool, EventFd again)
    : outer_(std::move(outer)),
      link_(std::move(ours)),
      theirs_(std::move(theirs)),
      tool_(std::move(tool)),
      again_(std::move(again)) {}

Result<std::unique_ptr<LiveRun>> FramedRun::open(std::unique_ptr<LiveRun> outer, UniqueFd ours, UniqueFd theirs,
                                                 const ToolStreams& streams, FramedTool tool) {
  EventFd again = TRY(EventFd::create());
  std::unique_ptr<FramedRun> run(
      new FramedRun(std::move(outer), std::move(ours), std::move(theirs), std::move(tool), std::move(again)));
  TRY(run->take_streams(streams));
  run->watch_again();
  return run;
}

Status FramedRun::take_streams(const ToolStreams& streams) {
  in_ = TRY(copy_of(streams.in));
  out_ = TRY(copy_of(streams.out));
  err_ = TRY(copy_of(streams.err));
  epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) return fail(system_error("wait for", "the run", errno));
  clock_ = UniqueFd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!clock_) return fail(system_error("time", "the run", errno));
  TRY(watch(again_.fd(), EPOLLIN));
  TRY(watch(clock_.get(), EPOLLIN));
  return watch(link_.fd(), EPOLLIN);
}

Status FramedRun::watch(int fd, std::uint32_t events) {
  epoll_event what{};
  what.events = events;
  what.data.fd = fd;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &what) == 0 || errno == EPERM) return {};  // EPERM: always ready
  if (errno == EEXIST && ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &what) == 0) return {};
  return fail(system_error("wait for", "the run", errno));
}

// After each step, watches again exactly the descriptors that the next step needs. It removes the others: they are
// level-triggered and would wake us for nothing.
void FramedRun::watch_again() {
  const auto forget = [this](int fd) { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); };
  if (outer_fd_ >= 0) forget(outer_fd_);
  outer_fd_ = outer_gone_ ? -1 : outer_->event_fd();
  if (outer_fd_ >= 0) static_cast<void>(watch(outer_fd_, EPOLLIN));
  const bool output_waits = link_.has_frame();
  const bool of_out = output_waits && link_.kind() == FrameKind::kOutput;
  const bool reads = !link_over_ && !output_waits;
  if (link_over_) forget(link_.fd());
  if (!link_over_) {
    static_cast<void>(watch(
        link_.fd(), (reads ? std::uint32_t{EPOLLIN} : 0U) | (link_.has_to_send() ? std::uint32_t{EPOLLOUT} : 0U)));
  }
  const bool has_room = started_ && !ended_ && in_ && under_way_ + kInputPiece <= wire::kInputWindow;
  if (in_ && has_room) static_cast<void>(watch(in_.get(), EPOLLIN));
  if (in_ && !has_room) forget(in_.get());
  for (const UniqueFd* stream : {&out_, &err_}) {
    const bool waited_for = output_waits && (stream == &out_) == of_out;
    if (waited_for) static_cast<void>(watch(stream->get(), EPOLLOUT));
    if (!waited_for && *stream) forget(stream->get());
  }
}

void FramedRun::give_up() {
  if (!outer_gone_) outer_->stop(StopStep::kForce);
}

void FramedRun::stop(StopStep step) {
  stopped_ = true;
  if (outer_gone_) return;
  const bool tool_lives = started_ && !ended_ && !link_over_;
  const bool ask = tool_lives && (step == StopStep::kTerminate || step == StopStep::kKill);
  if (ask) {
    const wire::Command command = step == StopStep::kTerminate ? wire::Command::kTerminate : wire::Command::kFinish;
    link_.send(FrameKind::kCommand, std::string_view(reinterpret_cast<const char*>(&command), 1));
  } else {
    outer_->stop(step == StopStep::kAbandon ? StopStep::kAbandon : StopStep::kForce);
  }
  again_.signal();
}

Result<RunReport> FramedRun::next() {
  static_cast<void>(again_.drain());
  check_clock();
  link_.flush();
  std::optional<RunReport> report = TRY(ask_outer());
  if (!report) report = take_frames();
  if (!report) report = TRY(conclude());
  if (started_) copy_input();
  watch_again();
  if (report && !outer_gone_) again_.signal();  // the same read may have brought more frames
  return report ? std::move(*report) : RunReport(NothingNew{});
}

void FramedRun::check_clock() {
  std::uint64_t times = 0;
  if (::read(clock_.get(), &times, sizeof times) != sizeof times || started_) return;
  too_late_ = true;
  give_up();
}

Result<std::optional<RunReport>> FramedRun::ask_outer() {
  if (outer_gone_) return std::nullopt;
  const int fd = outer_->event_fd();
  if (fd >= 0 && ready(fd, POLLIN) == 0) return std::nullopt;
  RunReport report = TRY(outer_->next());
  std::optional<RunReport> passed;
  std::visit(overloaded{[](NothingNew) {},  //
                        [&](NetworkOpened& network) { passed = std::move(network); },
                        [&](ToolStarted& started) { outer_started(std::move(started)); },
                        [&](StartFailed& failed) {
                          failed_ = true;
                          passed = failed;
                        },
                        [&](const ToolEnded& end) {
                          outer_status_ = end.wait_status;
                          outer_gone_ = end.is_last;
                        },
                        [&](RunGone) { outer_gone_ = true; }},
             report);
  return passed;
}

void FramedRun::outer_started(ToolStarted started) {
  theirs_.reset();
  facts_ = started.facts;
  scratch_ = std::move(started.scratch);
  link_.send(FrameKind::kImage, tool_.image);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(tool_.patience);
  itimerspec until{};
  until.it_value.tv_sec = seconds.count();
  until.it_value.tv_nsec = std::chrono::nanoseconds(tool_.patience - seconds).count();
  if (::timerfd_settime(clock_.get(), 0, &until, nullptr) != 0) give_up();
}

std::optional<RunReport> FramedRun::take_frames() {
  for (;;) {
    while (!link_over_ && !link_.has_frame()) {
      if (ready(link_.fd(), POLLIN) == 0) return std::nullopt;
      if (link_.receive()) continue;
      link_over_ = true;
      give_up();
    }
    if (!link_.has_frame()) return std::nullopt;
    const FrameKind kind = link_.kind();
    if (kind == FrameKind::kOutput || kind == FrameKind::kErrors) {
      if (!put_output()) return std::nullopt;
      continue;
    }
    std::optional<RunReport> report;
    if (kind == FrameKind::kReport) report = take_report();
    if (kind == FrameKind::kTaken && link_.bytes().size() == sizeof(std::uint32_t)) {
      std::uint32_t taken = 0;
      std::memcpy(&taken, link_.bytes().data(), sizeof taken);
      under_way_ -= std::min<std::size_t>(taken, under_way_);
    }
    link_.forget();
    if (report) return report;
  }
}

std::optional<RunReport> FramedRun::take_report() {
  const std::optional<wire::Report> report = report_in(link_.bytes());
  if (!report || ended_ || failed_) return std::nullopt;
  if (report->kind == wire::ReportKind::kStarted && !started_) {
    started_ = true;
    facts_.landlocked = (report->flags & wire::kAppliedLandlock) != 0;
    return ToolStarted{.facts = facts_};
  }
  if (report->kind == wire::ReportKind::kFailed && !started_ && !stopped_) {
    failed_ = true;
    give_up();
    return StartFailed{.stage = report->stage < SetupStage::kCount ? report->stage : SetupStage::kJail,
                       .error_number = report->error,
                       .host_cannot = host_lacks(report->stage, report->error)};
  }
  if (report->kind == wire::ReportKind::kExited && started_) {
    ended_ = report;
    give_up();
  }
  return std::nullopt;
}

// True when the frame is done. Drops output that has no reader any more, and output from before the tool's start.
bool FramedRun::put_output() {
  const int to = link_.kind() == FrameKind::kOutput ? out_.get() : err_.get();
  const std::string_view bytes = link_.bytes();
  while (started_ && put_ < bytes.size()) {
    const short state = ready(to, POLLOUT);
    if (state == 0) return false;
    if ((state & POLLOUT) == 0) break;
    const std::string_view piece = bytes.substr(put_, kSurelyTaken);
    const ssize_t put = ::write(to, piece.data(), piece.size());
    if (put < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (put < 0) break;
    put_ += static_cast<std::size_t>(put);
  }
  put_ = 0;
  link_.forget();
  return true;
}

void FramedRun::copy_input() {
  while (!ended_ && in_ && under_way_ + kInputPiece <= wire::kInputWindow && ready(in_.get(), POLLIN) != 0) {
    std::array<char, kInputPiece> piece;
    const ssize_t got = ::read(in_.get(), piece.data(), piece.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    const std::size_t size = got > 0 ? static_cast<std::size_t>(got) : 0;
    link_.send(FrameKind::kInput, std::string_view(piece.data(), size));
    under_way_ += size;
    if (size == 0) in_.reset();
  }
}

// Call when the outer program is gone, and everything it sent has been read.
Result<std::optional<RunReport>> FramedRun::conclude() {
  if (!outer_gone_ || link_.has_frame()) return std::nullopt;
  if (failed_) return RunReport(RunGone{});
  if (!started_ && !stopped_) return TRY(never_started());
  if (ended_) {
    return RunReport(ToolEnded{.wait_status = ended_->wait_status,
                               .usage = {.user = std::chrono::microseconds(ended_->user_us),
                                         .system = std::chrono::microseconds(ended_->system_us),
                                         .peak_rss_bytes = ended_->peak_rss_bytes},
                               .is_last = true,
                               .of_guest = GuestFacts{.oom_kills = ended_->oom_kills,
                                                      .scratch_bytes = ended_->scratch_bytes,
                                                      .scratch_files = ended_->scratch_files,
                                                      .scratch_full = ended_->scratch_was_full != 0}});
  }
  return RunReport(ToolEnded{.wait_status = stopped_ ? SIGKILL : outer_status_, .fate_unknown = true, .is_last = true});
}

Result<RunReport> FramedRun::never_started() {
  const std::string words = tool_.last_words ? tool_.last_words(scratch_.get()) : std::string();
  const std::string why = too_late_ ? "it did not start in time" : "it ended before the tool could start";
  return fail(jail_unavailable(tool_.jail, words.empty() ? why : why + ": " + words));
}

}  // namespace sallyport::spawn
