// The worker's side of frames (wire/frame.h): it passes the owner's commands and the tool's input in, and reports and
// output out. The owner sees such a run like any other.
#include <fcntl.h>
#include <signal.h>

#include "spawn/freestanding/poll.h"
#include "spawn/helper/carry_worker.h"
#include "spawn/helper/frames.h"
#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {
namespace {

using wire::FrameKind;

// POLLOUT of a pipe promises room for this much; a larger write could block (pipe(7), PIPE_BUF).
constexpr std::size_t kSurelyTaken = 4096;
constexpr long kLargestPipe = 1L << 20;  // /proc/sys/fs/pipe-max-size, as it mostly is

FrameReader from_init;
FrameOutbox to_init;
char said[4096];  // what an engine's client printed
constexpr std::size_t kInputPiece = 16 * 1024;

class Relay {
 public:
  Relay(const Run& run, const Framing& framing) : run_(run), framing_(framing), in_(framing.in), carry_(run) {
    to_init.open(framing.to_init, FrameOutbox::Writes::kWhenReady);
  }

  // Until `pidfd`'s process, which builds the jail, has exited.
  void serve_until_exit(int pidfd) {
    serve(pidfd);
    if (run_.handed_fd >= 0) carry_.last_round(to_init);
    if (is_engine_) pass_on_what_was_said();
  }

 private:
  // The init always makes room again: it stops reading only while it writes to us.
  void serve(int pidfd) {
    const int channel = run_.fds[wire::kFdChannel];
    const bool carries = run_.handed_fd >= 0;
    bool commanded = true;
    for (;;) {
      const bool waits = from_init.has_frame();  // output, for its reader
      const bool of_out = waits && from_init.kind() == FrameKind::kOutput;
      if (is_engine_) say_that_we_live();
      struct pollfd watched[7 + CarryWorker::kWatched] = {
          {waits || ended_ ? -1 : framing_.from_init, POLLIN, 0},
          {commanded ? channel : -1, POLLIN, 0},
          {has_room() ? in_ : -1, POLLIN, 0},
          {waits ? (of_out ? framing_.out : framing_.err) : -1, POLLOUT, 0},
          // Pass on what the init sent before the end of the process that built its jail.
          {waits || !ended_ ? -1 : pidfd, POLLIN, 0},
          {framing_.said, POLLIN, 0},
          {to_init.waits() ? framing_.to_init : -1, POLLOUT, 0}};
      if (carries) carry_.watch(watched + 7, to_init);
      const long count = carries ? 7 + CarryWorker::kWatched : 7;
      const long ready = is_engine_ ? poll_for(watched, count, wire::kAliveEveryMs) : poll_until_ready(watched, count);
      if (ready == -4) continue;  // EINTR
      if (ready < 0) {            // we could no longer stop the run
        signal_descendants(SIGKILL);
        return;
      }
      if (watched[4].revents != 0) return;
      if (watched[0].revents != 0) take_frame();
      if (watched[2].revents != 0) send_input();
      if (watched[3].revents != 0) put_output(watched[3]);
      if (watched[1].revents != 0) commanded = obey(channel);
      if (watched[5].revents != 0) keep_what_is_said();
      if (carries) carry_.serve(watched + 7, to_init);
      to_init.flush();
    }
  }

  void say_that_we_live() {
    const long ms = now_ms();
    if (ms - said_alive_ms_ < wire::kAliveEveryMs) return;
    said_alive_ms_ = ms;
    to_init.put(FrameKind::kAlive, nullptr, 0);  // a pipe without room already holds frames of ours
  }

  // Its first lines say why it could not start the container. If it could, its warnings are not output of the tool.
  bool keep_what_is_said() {
    static char rest[512];
    const bool room = said_size_ < sizeof said;
    const long got = sys(__NR_read, long{framing_.said}, room ? said + said_size_ : rest,
                         static_cast<long>(room ? sizeof said - said_size_ : sizeof rest));
    if (got == -4) return true;  // EINTR
    if (got > 0 && room) said_size_ += static_cast<std::size_t>(got);
    if (got > 0) return true;
    if (got != -11) framing_.said = -1;  // EAGAIN
    return false;
  }

  // Skips warnings: the start of the line that says it is an error; without one, the start of the text.
  [[nodiscard]] std::size_t line_of_error() const {
    constexpr char kWord[] = "Error";
    std::size_t line = 0;
    for (std::size_t i = 0; i + sizeof kWord <= said_size_; ++i) {
      std::size_t same = 0;
      while (same < sizeof kWord - 1 && said[i + same] == kWord[same]) ++same;
      if (same == sizeof kWord - 1) return line;
      if (said[i] == '\n') line = i + 1;
    }
    return 0;
  }

  void pass_on_what_was_said() {
    while (framing_.said >= 0 && keep_what_is_said()) {
    }
    const std::size_t from = line_of_error();
    if (!started_) write_whole(framing_.err, said + from, said_size_ - from);
  }
  [[nodiscard]] bool has_room() const {
    return in_ >= 0 && under_way_ + kInputPiece <= wire::kInputWindow && to_init.has_room_for(kInputPiece);
  }

  void take_frame() {
    const FrameReader::Got got = from_init.read_some(framing_.from_init);
    if (got == FrameReader::Got::kEnd) ended_ = true;
    if (got != FrameReader::Got::kFrame) return;
    put_ = 0;
    switch (from_init.kind()) {
      case FrameKind::kOutput:
      case FrameKind::kErrors:
        return;  // it waits for its reader
      case FrameKind::kReport:
        pass_report();
        break;
      case FrameKind::kTaken:
        if (from_init.size() == sizeof(std::uint32_t)) {
          const std::uint32_t taken = *reinterpret_cast<const std::uint32_t*>(from_init.bytes());
          under_way_ -= taken < under_way_ ? taken : under_way_;
        }
        break;
      case FrameKind::kOpen:
      case FrameKind::kData:
      case FrameKind::kCredit:
      case FrameKind::kFinish:
      case FrameKind::kGone:
        // The sender has taken our init over, or our init is broken.
        if (run_.handed_fd < 0 || !carry_.take(from_init.kind(), from_init.bytes(), from_init.size())) end_by_force();
        break;
      default:
        break;
    }
    from_init.forget();
  }

  void end_by_force() {
    signal_descendants(SIGKILL);
    // Output that still waits for a reader must not delay the end.
    from_init.forget();
    ended_ = true;
  }

  // Passes on only what an init inside can know: no descriptor comes with it, and only we can say that nothing is left
  // alive.
  void pass_report() {
    if (from_init.size() != sizeof(wire::Report)) return;
    wire::Report report = *reinterpret_cast<const wire::Report*>(from_init.bytes());
    const std::uint32_t carries = run_.handed_fd >= 0 ? wire::kCarriesThem : 0U;
    report.flags &= wire::kAppliedLandlock | carries;
    if (report.kind == wire::ReportKind::kStarted) started_ = true;
    send_report(run_.fds[wire::kFdChannel], report, nullptr, 0);
  }

  void send_input() {
    char* const at = to_init.begin(kInputPiece);
    if (at == nullptr) return;
    const long got = sys(__NR_read, long{in_}, at, long{kInputPiece});
    if (got == -4 || got == -11) return;  // EINTR, EAGAIN
    const std::size_t size = got > 0 ? static_cast<std::size_t>(got) : 0;
    to_init.end(FrameKind::kInput, size);
    under_way_ += size;
    if (size > 0) return;
    sys(__NR_close, long{in_});
    in_ = -1;
  }

  void put_output(const struct pollfd& reader) {
    const std::size_t left = from_init.size() - put_;
    const std::size_t size = left < kSurelyTaken ? left : kSurelyTaken;
    long put = sys(__NR_write, long{reader.fd}, from_init.bytes() + put_, static_cast<long>(size));
    if (put == -4 || put == -11) return;         // EINTR, EAGAIN
    if (put < 0) put = static_cast<long>(left);  // the reader is gone
    put_ += static_cast<std::size_t>(put);
    if (put_ >= from_init.size()) from_init.forget();
  }

  // False when no command follows. A closed channel counts as the last command.
  bool obey(int channel) {
    wire::Command command = wire::Command::kKill;
    if (sys(__NR_read, long{channel}, &command, 1L) != 1) command = wire::Command::kKill;
    if (command != wire::Command::kKill && to_init.put_command(&command, 1)) return true;
    end_by_force();
    return false;
  }

  const Run& run_;
  Framing framing_;
  const bool is_engine_ = framing_.said >= 0;
  int in_;
  std::size_t under_way_ = 0;
  std::size_t put_ = 0;
  bool ended_ = false;
  bool started_ = false;
  std::size_t said_size_ = 0;
  long said_alive_ms_ = 0;
  CarryWorker carry_;
};

}  // namespace

namespace {

// The client's own messages must not look like the tool's output.
long make_pipe_for_client(Run& run, Framing& framing) {
  int ends[2] = {-1, -1};
  long made = sys(__NR_pipe2, &ends[0], long{O_CLOEXEC});
  if (made >= 0) made = sys(__NR_fcntl, long{ends[0]}, long{F_SETFL}, long{O_NONBLOCK});
  framing.said = ends[0];
  run.fds[wire::kFdStderr] = ends[1];
  return made;
}

}  // namespace

long prepare_framing(Run& run, Framing& framing) {
  // When the wrapper is gone, write(2) must fail and not kill us. What we start begins with no signal blocked.
  const std::uint64_t broken_pipe = 1ULL << (SIGPIPE - 1);
  sys(__NR_rt_sigprocmask, long{SIG_BLOCK}, &broken_pipe, 0L, 8L);
  int to[2] = {-1, -1};
  int from[2] = {-1, -1};
  long made = sys(__NR_pipe2, &to[0], long{O_CLOEXEC});
  if (made >= 0) made = sys(__NR_pipe2, &from[0], long{O_CLOEXEC});
  if (made < 0) return made;
  sys(__NR_fcntl, long{to[1]}, long{F_SETPIPE_SZ}, kLargestPipe);
  framing = {to[1], from[0], run.fds[wire::kFdStdin], run.fds[wire::kFdStdout], run.fds[wire::kFdStderr], -1};
  // The program that builds the jail writes its errors where the tool would.
  run.fds[wire::kFdStdin] = to[0];
  run.fds[wire::kFdStdout] = from[1];
  if (run.has(wire::kEngine)) return make_pipe_for_client(run, framing);
  run.fds[wire::kFdStderr] = static_cast<int>(sys(__NR_fcntl, long{framing.err}, long{F_DUPFD_CLOEXEC}, 3L));
  return run.fds[wire::kFdStderr] < 0 ? run.fds[wire::kFdStderr] : 0;
}

long send_framed_image(const Run& run, const Framing& framing) {
  const int image = run.fds[run.first_cgroup_fd() + run.image->cgroup_count];
  const long size = sys(__NR_lseek, long{image}, 0L, 2L /* SEEK_END */);
  if (size < 0 || size > static_cast<long>(wire::kLargestFramedImage)) return size < 0 ? size : -7;  // E2BIG
  const wire::FrameHeader header = {FrameKind::kImage, static_cast<std::uint32_t>(size)};
  const long sent = write_whole(framing.to_init, &header, sizeof header);
  if (sent < 0) return sent;
  static char piece[16 * 1024];
  for (long at = 0; at < size;) {
    const long got = sys(__NR_pread64, long{image}, piece, long{sizeof piece}, at);
    if (got <= 0) return got < 0 ? got : -5;  // EIO
    const long put = write_whole(framing.to_init, piece, static_cast<std::size_t>(got));
    if (put < 0) return put;
    at += got;
  }
  return 0;
}

void serve_frames_until_exit(const Run& run, const Framing& framing, int pidfd) {
  sys(__NR_fcntl, long{framing.to_init}, long{F_SETFL}, long{O_WRONLY | O_NONBLOCK});
  Relay(run, framing).serve_until_exit(pidfd);
}

}  // namespace sallyport::spawn::helper
