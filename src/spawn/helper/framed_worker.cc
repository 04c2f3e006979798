// The worker's side of frames (wire/frame.h): it passes the owner's commands and the tool's input in, and reports and output out. To
// the owner such a run is like any other.
#include <fcntl.h>
#include <signal.h>

#include "spawn/freestanding/poll.h"
#include "spawn/helper/frames.h"
#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {
namespace {

using wire::FrameKind;

// POLLOUT of a pipe promises room for so much; a write of more could wait (pipe(7), PIPE_BUF).
constexpr std::size_t kSurelyTaken = 4096;
constexpr long kLargestPipe = 1L << 20;  // /proc/sys/fs/pipe-max-size, as it mostly is

FrameReader from_init;
char input[16 * 1024];

class Relay {
 public:
  Relay(const Run& run, const Framing& framing) : run_(run), framing_(framing), in_(framing.in) {}

  // Until `pidfd`'s process, which builds the jail, has exited.
  void serve_until_exit(int pidfd) {
    const int channel = run_.fds[wire::kFdChannel];
    bool commanded = true;
    for (;;) {
      const bool waits = from_init.has_frame();  // output, for its reader
      const bool of_out = waits && from_init.kind() == FrameKind::kOutput;
      struct pollfd watched[5] = {{waits || ended_ ? -1 : framing_.from_init, POLLIN, 0},
                                  {commanded ? channel : -1, POLLIN, 0},
                                  {has_room() ? in_ : -1, POLLIN, 0},
                                  {waits ? (of_out ? framing_.out : framing_.err) : -1, POLLOUT, 0},
                                  // What the init has said comes before the end of who built its jail.
                                  {waits || !ended_ ? -1 : pidfd, POLLIN, 0}};
      const long ready = poll_until_ready(watched, 5);
      if (ready == -4) continue;  // EINTR
      if (ready < 0) {            // nobody could stop it any more
        signal_descendants(SIGKILL);
        return;
      }
      if (watched[4].revents != 0) return;
      if (watched[0].revents != 0) take_frame();
      if (watched[2].revents != 0) send_input();
      if (watched[3].revents != 0) put_output(watched[3]);
      if (watched[1].revents != 0) commanded = obey(channel);
    }
  }

 private:
  [[nodiscard]] bool has_room() const { return in_ >= 0 && under_way_ + sizeof input <= wire::kInputWindow; }

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
      default:
        break;
    }
    from_init.forget();
  }

  // Of an init inside only what it can know: no descriptor rides along, and that nobody is left is for us to say.
  void pass_report() const {
    if (from_init.size() != sizeof(wire::Report)) return;
    wire::Report report = *reinterpret_cast<const wire::Report*>(from_init.bytes());
    report.flags &= static_cast<std::uint32_t>(wire::kAppliedLandlock);
    send_report(run_.fds[wire::kFdChannel], report, nullptr, 0);
  }

  void send_input() {
    const long got = sys(__NR_read, long{in_}, input, long{sizeof input});
    if (got == -4 || got == -11) return;  // EINTR, EAGAIN
    const std::size_t size = got > 0 ? static_cast<std::size_t>(got) : 0;
    write_frame(framing_.to_init, FrameKind::kInput, input, size);
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
    if (put < 0) put = static_cast<long>(left);  // nobody reads it any more
    put_ += static_cast<std::size_t>(put);
    if (put_ >= from_init.size()) from_init.forget();
  }

  // False when no command follows. A closed channel is the last one there is.
  bool obey(int channel) {
    wire::Command command = wire::Command::kKill;
    if (sys(__NR_read, long{channel}, &command, 1L) != 1) command = wire::Command::kKill;
    if (command != wire::Command::kKill) {
      write_frame(framing_.to_init, FrameKind::kCommand, &command, 1);
      return true;
    }
    signal_descendants(SIGKILL);
    // What still waits for a reader must not hold up the end.
    from_init.forget();
    ended_ = true;
    return false;
  }

  const Run& run_;
  const Framing framing_;
  int in_;
  std::size_t under_way_ = 0;
  std::size_t put_ = 0;
  bool ended_ = false;
};

}  // namespace

long prepare_framing(Run& run, Framing& framing) {
  // A wrapper that is gone is an error of write(2), and not our end. What we start begins with no signal blocked.
  const std::uint64_t broken_pipe = 1ULL << (SIGPIPE - 1);
  sys(__NR_rt_sigprocmask, long{SIG_BLOCK}, &broken_pipe, 0L, 8L);
  int to_init[2] = {-1, -1};
  int from[2] = {-1, -1};
  long made = sys(__NR_pipe2, &to_init[0], long{O_CLOEXEC});
  if (made >= 0) made = sys(__NR_pipe2, &from[0], long{O_CLOEXEC});
  if (made < 0) return made;
  sys(__NR_fcntl, long{to_init[1]}, long{F_SETPIPE_SZ}, kLargestPipe);
  framing = {to_init[1], from[0], run.fds[wire::kFdStdin], run.fds[wire::kFdStdout], run.fds[wire::kFdStderr]};
  // Whoever builds the jail complains where the tool would.
  run.fds[wire::kFdStdin] = to_init[0];
  run.fds[wire::kFdStdout] = from[1];
  run.fds[wire::kFdStderr] = static_cast<int>(sys(__NR_fcntl, long{framing.err}, long{F_DUPFD_CLOEXEC}, 3L));
  return run.fds[wire::kFdStderr] < 0 ? run.fds[wire::kFdStderr] : 0;
}

long send_framed_image(const Run& run, const Framing& framing) {
  const int image = run.fds[run.first_cgroup_fd() + run.image->cgroup_count];
  const long size = sys(__NR_lseek, long{image}, 0L, 2L /* SEEK_END */);
  if (size < 0 || size > static_cast<long>(wire::kLargestFramedImage)) return size < 0 ? size : -7;  // E2BIG
  const wire::FrameHeader header = {FrameKind::kImage, static_cast<std::uint32_t>(size)};
  const long begun = write_whole(framing.to_init, &header, sizeof header);
  if (begun < 0) return begun;
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
  Relay(run, framing).serve_until_exit(pidfd);
}

}  // namespace sallyport::spawn::helper
