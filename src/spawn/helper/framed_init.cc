// The jail's process 1 where it can exchange only frames with the worker (wire/frame.h): the tool's streams are pipes
// of ours, and we pass their bytes on as frames. Our own stdin comes from the worker; when it ends, we end.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

#include "spawn/freestanding/poll.h"
#include "spawn/helper/carry_init.h"
#include "spawn/helper/engine_init.h"
#include "spawn/helper/frames.h"
#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {
namespace {

using wire::FrameKind;
using wire::Stage;

constexpr int kFromWorker = 0;
constexpr int kToWorker = 1;

FrameReader from_worker;
EngineWatch engine;  // used with wire::kEngine
CarryInit carry;     // used when wire::Image::carried_count is not 0
char passing[wire::kLargestFrame];

// Our end of each pipe of the tool's; -1 when it is closed.
struct Pipes {
  int in;
  int out;
  int err;
};

void close_end(int& fd) {
  sys(__NR_close, long{fd});
  fd = -1;
}

// False when the pipe has reached its end.
bool pass_on(int& fd, FrameKind kind) {
  const long got = sys(__NR_read, long{fd}, passing, long{sizeof passing});
  if (got == -4) return true;  // EINTR
  if (got <= 0) {
    close_end(fd);
    return false;
  }
  if (write_frame(kToWorker, kind, passing, static_cast<std::size_t>(got)) < 0) exit_now(1);
  return true;
}

// Input that waits for room in the tool's stdin. The worker never sends more than this ahead.
char input[wire::kInputWindow];
std::size_t input_size;
bool input_ended;

void keep_input(const char* bytes, std::size_t size) {
  if (size > sizeof input - input_size) exit_now(1);
  for (std::size_t i = 0; i < size; ++i) input[input_size + i] = bytes[i];
  input_size += size;
  if (size == 0) input_ended = true;
}

// The tool may have closed its stdin: then drop further input.
void give_input(int& in) {
  long put = in < 0 ? -32 : sys(__NR_write, long{in}, input, static_cast<long>(input_size));  // EPIPE
  if (put == -4 || put == -11) return;                                                        // EINTR, EAGAIN
  if (put < 0) {
    if (in >= 0) close_end(in);
    put = static_cast<long>(input_size);
  }
  const std::size_t taken = static_cast<std::size_t>(put);
  for (std::size_t i = taken; i < input_size; ++i) input[i - taken] = input[i];
  input_size -= taken;
  const std::uint32_t count = static_cast<std::uint32_t>(taken);
  if (count > 0 && write_frame(kToWorker, FrameKind::kTaken, &count, sizeof count) < 0) exit_now(1);
}

void take_frame() {
  const FrameReader::Got got = from_worker.read_some(kFromWorker);
  if (got == FrameReader::Got::kEnd) exit_now(1);
  if (got != FrameReader::Got::kFrame) return;
  engine.heard();
  const char* const bytes = from_worker.bytes();
  switch (from_worker.kind()) {
    case FrameKind::kInput:
      keep_input(bytes, from_worker.size());
      break;
    case FrameKind::kCommand:
      if (from_worker.size() != 1) break;
      sys(__NR_kill, -1L, bytes[0] == static_cast<char>(wire::Command::kTerminate) ? long{SIGTERM} : long{SIGKILL});
      break;
    case FrameKind::kData:
    case FrameKind::kCredit:
    case FrameKind::kFinish:
    case FrameKind::kGone:
      if (!carry.take(from_worker.kind(), bytes, from_worker.size())) exit_now(1);
      break;
    default:
      break;
  }
  from_worker.forget();
}

// Kills what the tool left behind; then the pipes reach their ends.
[[noreturn]] void finish(const Run& run, int status, const wire::Report& seen, Pipes& pipes) {
  end_the_rest();
  carry.last_round();
  while (pipes.out >= 0 && pass_on(pipes.out, FrameKind::kOutput)) {
  }
  while (pipes.err >= 0 && pass_on(pipes.err, FrameKind::kErrors)) {
  }
  wire::Report report = exit_report(status, 0U);
  add_guests_facts(run, seen, report);
  if (run.has(wire::kEngine)) engine.put_findings(report);
  send_report(run.fds[wire::kFdChannel], report, nullptr, 0);
  linger_in_guest(run);
  exit_now(0);
}

// True when the tool has ended; `status` says how.
bool reap(long tool, int& status) {
  int one = 0;
  bool ended = false;
  for (long pid = 0; (pid = sys(__NR_wait4, -1L, &one, 1L /* WNOHANG */, 0L)) > 0;) {
    if (pid != tool) continue;
    status = one;
    ended = true;
  }
  return ended;
}

// What the owner would do for other jails.
void watch_over() {
  if (engine.owner_is_silent()) exit_now(1);
  if (engine.scratch_just_filled()) sys(__NR_kill, -1L, long{SIGKILL});
}

[[noreturn]] void serve(const Run& run, long tool, int signals, Pipes pipes) {
  wire::Report seen = {};
  const bool in_engine = run.has(wire::kEngine);
  for (;;) {
    if (in_engine) watch_over();
    const bool input_waits = input_size > 0;
    struct pollfd watched[5 + CarryInit::kWatched] = {{signals, POLLIN, 0},
                                                      {kFromWorker, POLLIN, 0},
                                                      {pipes.out, POLLIN, 0},
                                                      {pipes.err, POLLIN, 0},
                                                      {input_waits ? pipes.in : -1, POLLOUT, 0}};
    const long count = carry.is_open() ? 5 + CarryInit::kWatched : 5;
    carry.watch(watched + 5);
    const long ready = in_engine || run.has(wire::kInGuest) ? poll_for(watched, count, EngineWatch::look_every_ms())
                                                            : poll_until_ready(watched, count);
    if (ready < 0 && ready != -4) exit_now(1);  // EINTR
    if (measure_scratch(run, seen)) sys(__NR_kill, -1L, long{SIGKILL});
    if (watched[2].revents != 0) pass_on(pipes.out, FrameKind::kOutput);
    if (watched[3].revents != 0) pass_on(pipes.err, FrameKind::kErrors);
    if (watched[1].revents != 0) take_frame();
    carry.serve(watched + 5);
    if (input_waits && (pipes.in < 0 || watched[4].revents != 0)) give_input(pipes.in);
    if (input_ended && input_size == 0 && pipes.in >= 0) close_end(pipes.in);
    if (watched[0].revents == 0) continue;
    char about[128];
    sys(__NR_read, long{signals}, about, long{sizeof about});
    int status = 0;
    if (reap(tool, status)) finish(run, status, seen, pipes);
  }
}

long take_image(Run& run) {
  wire::FrameHeader header = {};
  if (read_whole(kFromWorker, &header, sizeof header) <= 0) exit_now(1);
  if (header.kind != FrameKind::kImage || header.size > wire::kLargestFramedImage) return -22;  // EINVAL
  const long address =
      sys(__NR_mmap, 0L, long{header.size}, long{PROT_READ | PROT_WRITE}, long{MAP_PRIVATE | MAP_ANONYMOUS}, -1L, 0L);
  if (address < 0 && address > -4096) return address;
  if (read_whole(kFromWorker, reinterpret_cast<void*>(address), header.size) <= 0) exit_now(1);
  return adopt_image(run, address, header.size);
}

long make_output_pipe(int& ours, int& tools) {
  int ends[2] = {-1, -1};
  const long made = sys(__NR_pipe2, &ends[0], long{O_CLOEXEC});
  ours = ends[0];
  tools = ends[1];
  return made;
}

// Only our end is non-blocking.
long make_input_pipe(int& ours, int& tools) {
  const long made = make_output_pipe(tools, ours);
  return made < 0 ? made : sys(__NR_fcntl, long{ours}, long{F_SETFL}, long{O_NONBLOCK});
}

}  // namespace

long open_framed_run(Run& run) {
  run.fds[wire::kFdChannel] = kFramedChannel;
  run.fd_count = wire::kFdCommonCount;
  run.scratch_fd = -1;
  return take_image(run);
}

void start_and_serve_frames(Run& run) {
  const std::uint64_t ended = 1ULL << (SIGCHLD - 1);
  const int signals = static_cast<int>(sys(__NR_signalfd4, -1L, &ended, 8L, long{O_CLOEXEC}));
  Pipes pipes = {-1, -1, -1};
  long made = signals;
  if (made >= 0) made = make_input_pipe(pipes.in, run.fds[wire::kFdStdin]);
  if (made >= 0) made = make_output_pipe(pipes.out, run.fds[wire::kFdStdout]);
  if (made >= 0) made = make_output_pipe(pipes.err, run.fds[wire::kFdStderr]);
  if (made < 0) refuse(run, {Stage::kStdio, static_cast<int>(-made)});
  if (run.has(wire::kEngine)) engine.open();
  Failure failure = {};
  if (!Steps(*run.image, failure).ok(Stage::kNetwork, carry.open(run, kToWorker))) refuse(run, failure);
  if (carry.is_open()) run.applied_ahead |= wire::kCarriesThem;
  const long tool = start_confined(run);
  serve(run, tool, signals, pipes);
}

}  // namespace sallyport::spawn::helper
