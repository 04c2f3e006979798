// Kills writers at any moment, and simulates power cuts from the recorded writes and syncs.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <span>

#include "audit/test_log.h"
#include "support/deep.h"
#include "support/forked.h"

namespace {

// The writes of this program to files, in order, while `recording` is set.
struct Operation {
  std::string file;
  off_t offset = 0;
  std::string bytes;
  bool is_sync = false;
};
std::mutex operations_mutex;
bool recording = false;
std::vector<Operation> operations;

void note_operation(int fd, off_t offset, std::string_view bytes, bool is_sync) {
  if (!recording) return;
  const std::lock_guard guard(operations_mutex);
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error);
  operations.push_back({.file = path.filename(), .offset = offset, .bytes = std::string(bytes), .is_sync = is_sync});
}

}  // namespace

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's
ssize_t __real_pwrite(int fd, const void* bytes, size_t size, off_t offset);
int __real_fdatasync(int fd);

ssize_t __wrap_pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  note_operation(fd, offset, {static_cast<const char*>(bytes), size}, false);
  return __real_pwrite(fd, bytes, size, offset);
}

int __wrap_fdatasync(int fd) {
  const int result = __real_fdatasync(fd);
  note_operation(fd, 0, {}, true);
  return result;
}
// NOLINTEND(bugprone-reserved-identifier)
}

namespace sallyport::audit {
namespace {

namespace fs = std::filesystem;

struct Acknowledged {
  std::uint64_t seq = 0;
  std::array<char, 64> marker{};
};

// Appends until it is killed, and reports which records sync() called safe.
int append_for_ever(const fs::path& place, int out, std::uint64_t who, const std::atomic<bool>& paused) {
  const auto log = AppendLog::open(place, ByteCount{256 * 1024});
  if (!log) return 1;
  for (std::uint64_t i = 0;; ++i) {
    while (paused.load()) ::usleep(100);
    const std::string marker = fmt::format("{:016x}-{:016x}", who, i);
    const std::string members =
        fmt::format(R"({{"time":"2026-01-01T00:00:00.000000Z","kind":"result","run":"{}","pad":"{}"}})", marker,
                    std::string(i % 9000, 'p'));
    const Result<std::uint64_t> seq = (*log)->append(members);
    if (!seq || !(*log)->sync(*seq)) return 1;
    Acknowledged said{.seq = *seq};
    std::copy(marker.begin(), marker.end(), said.marker.begin());
    if (::write(out, &said, sizeof said) != sizeof said) return 1;
  }
}

class KilledWriters : public LogTest {
 protected:
  struct Writer {
    pid_t pid = -1;
  };

  KilledWriters() {
    if (::pipe2(pipe_.data(), O_CLOEXEC) != 0) std::abort();
    void* const shared = ::mmap(nullptr, sizeof *paused_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) std::abort();
    paused_ = std::construct_at(static_cast<std::atomic<bool>*>(shared), false);
  }
  ~KilledWriters() override {
    for (const Writer& writer : writers_) end(writer.pid);
    ::munmap(paused_, sizeof *paused_);
  }
  static void end(pid_t pid) {
    if (pid <= 0) return;
    ::kill(pid, SIGKILL);
    static_cast<void>(test::wait_for(pid));
  }
  void start(Writer& writer) {
    const std::uint64_t who = ++started_;
    writer.pid = test::fork_child([&, who] { return append_for_ever(place(), pipe_[1], who, *paused_); });
  }
  void collect() {
    pollfd ready{.fd = pipe_[0], .events = POLLIN, .revents = 0};
    while (::poll(&ready, 1, 0) > 0) {
      Acknowledged said;
      if (::read(pipe_[0], &said, sizeof said) != sizeof said) return;
      acknowledged_[said.seq] = std::string(said.marker.data(), 33);
    }
  }
  // Every record that sync() called safe is there, unchanged.
  void expect_all_there() {
    std::map<std::uint64_t, std::string> stored;
    const LogDirectory directory = *LogDirectory::open_for_reading(place());
    const std::vector<std::uint64_t> segments = *directory.segments();
    for (const std::uint64_t segment : segments) {
      std::ifstream lines(place() / segment_name(segment));
      for (std::string line; std::getline(lines, line);) {
        if (const auto record = parse_record(line)) stored[record->seq] = record->run;
      }
    }
    for (const auto& [seq, marker] : acknowledged_) ASSERT_EQ(stored[seq], marker) << seq;
  }

  std::array<int, 2> pipe_{-1, -1};
  std::atomic<bool>* paused_ = nullptr;  // shared with the writers
  std::array<Writer, 4> writers_{};
  std::uint64_t started_ = 0;
  std::map<std::uint64_t, std::string> acknowledged_;
};

TEST_F(KilledWriters, C33_lose_nothing_that_was_acknowledged) {
  const int kills = test::deep() ? 1000 : 40;
  fill(1);
  std::mt19937 random(7);
  for (Writer& writer : writers_) start(writer);
  for (int i = 0; i < kills; ++i) {
    Writer& victim = writers_[random() % writers_.size()];
    ::usleep(static_cast<useconds_t>(random() % 4000));  // any moment is right: the test asserts nothing about time
    end(std::exchange(victim.pid, -1));
    collect();
    start(victim);
    // Read beside live writers only sometimes: they append while we read, so the log would grow by a part of itself
    // with every kill, and on a busy machine the test would never end.
    paused_->store(i % 16 != 0);
    const Verification found = verify();
    paused_->store(false);
    ASSERT_FALSE(found.problem) << why(found) << " after kill " << i;
    if (i % 50 == 0) expect_all_there();
  }
  for (Writer& writer : writers_) end(std::exchange(writer.pid, -1));
  collect();
  ASSERT_TRUE(open()->append(test_members(1)));
  EXPECT_FALSE(verify().problem) << why(verify());
  expect_all_there();
  EXPECT_GT(acknowledged_.size(), static_cast<std::size_t>(kills) / 4);
}

// The file as a power cut leaves it: synced writes are there; each other write is there, is missing, or is there in
// part.
std::string after_cut(const std::string& file, std::size_t cut, std::mt19937& random, std::string bytes = {}) {
  std::size_t synced = 0;
  for (std::size_t i = 0; i < cut; ++i) {
    if (operations[i].file == file && operations[i].is_sync) synced = i;
  }
  for (std::size_t i = 0; i < cut; ++i) {
    const Operation& one = operations[i];
    if (one.file != file || one.is_sync) continue;
    std::string_view part = one.bytes;
    if (i > synced) {
      const auto fate = random() % 3;
      if (fate == 0) continue;
      if (fate == 1) part = part.substr(0, random() % part.size());
    }
    const auto at = static_cast<std::size_t>(one.offset);
    if (bytes.size() < at + part.size()) bytes.resize(at + part.size(), '\0');
    bytes.replace(at, part.size(), part);
  }
  return bytes;
}

TEST_F(LogTest, C33_a_power_cut_loses_only_what_was_not_acknowledged) {
  operations.clear();
  static_cast<void>(open(ByteCount{4000}, "boot-1"));
  const std::string first_head = read(place() / "head");
  std::map<std::uint64_t, std::size_t>
      safe_at;  // by record: how many operations had been made when it was acknowledged
  recording = true;
  {
    const std::unique_ptr<AppendLog> log = open(ByteCount{4000}, "boot-1");
    for (std::uint64_t i = 1; i <= 60; ++i) {
      const Result<std::uint64_t> seq = log->append(test_members(i, "result", 37 * (i % 11)));
      ASSERT_TRUE(seq);
      if (i % 3 != 0) continue;  // the others wait for the next sync
      ASSERT_TRUE(log->sync(*seq));
      for (std::uint64_t j = safe_at.empty() ? 1 : safe_at.rbegin()->first + 1; j <= *seq; ++j)
        safe_at[j] = operations.size();
    }
  }
  recording = false;
  const std::vector<std::uint64_t> segments = *LogDirectory::open_for_reading(place())->segments();
  ASSERT_GT(segments.size(), 2U);
  std::mt19937 random(3);
  fs::remove_all(place());
  for (std::size_t cut = 0; cut <= operations.size(); ++cut) {
    fs::create_directory(place());
    ::chmod(place().c_str(), 0700);
    write(place() / "head", after_cut("head", cut, random, first_head));
    std::uint64_t last_file = 0;
    for (const std::uint64_t segment : segments) {
      const std::string bytes = after_cut(segment_name(segment), cut, random);
      // The head names a file only when its name is on the disk: the directory was synced.
      const bool made =
          segment == 1 || std::ranges::any_of(std::span(operations).first(cut), [&](const Operation& one) {
            return one.file == "head" && one.bytes.starts_with(fmt::format("{} ", segment));
          });
      if (made) write(place() / segment_name(segment), bytes);
      if (made) last_file = segment;
    }
    SCOPED_TRACE(fmt::format("cut {} last file {}", cut, last_file));
    const std::unique_ptr<AppendLog> log = open(ByteCount{4000}, "boot-2");
    ASSERT_NE(log, nullptr);
    ASSERT_TRUE(log->append(test_members(1000)));
    const Verification found = verify({.boot = "boot-2"});
    ASSERT_FALSE(found.problem) << why(found);
    std::uint64_t promised = 0;
    for (const auto& [seq, at] : safe_at) promised = at <= cut ? seq : promised;
    EXPECT_GT(found.records, promised);
    fs::remove_all(place());
  }
}

}  // namespace
}  // namespace sallyport::audit
