#include "cli/spinner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <utility>
#include <vector>

#include "cli/console.h"
#include "core/text/printable.h"
#include "core/text/units.h"
#include "os/file.h"

namespace sallyport::cli {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr seconds kSilence{2};
constexpr std::chrono::milliseconds kTurn{250};
constexpr std::string_view kWipe = "\r\x1B[K";
constexpr ByteCount kShortFile{16 * 1024};
constexpr std::size_t kMostProcesses = 4096;

std::vector<std::uint64_t> numbers_in(const std::string& text) {
  std::vector<std::uint64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    std::uint64_t number = 0;
    const auto [after, error] = std::from_chars(at, end, number);
    if (error == std::errc{}) numbers.push_back(number);
    at = error == std::errc{} ? after : at + 1;
  }
  return numbers;
}

std::vector<std::uint64_t> numbers_of(const std::string& path) {
  const Result<std::string> text = read_whole_file(path, kShortFile);
  return text ? numbers_in(*text) : std::vector<std::uint64_t>();
}

// Memory of everything that we have started, by the kernel's count: shared pages count for each process.
std::uint64_t resident_below_us() {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t> pending = {static_cast<std::uint64_t>(::getpid())};
  for (std::size_t i = 0; i < pending.size() && i < kMostProcesses; ++i) {
    const std::string process = fmt::format("/proc/{}", pending[i]);
    if (i > 0) {
      const std::vector<std::uint64_t> pages = numbers_of(process + "/statm");
      if (pages.size() > 1) bytes += pages[1] * page;
    }
    for (const std::uint64_t child : numbers_of(fmt::format("{0}/task/{1}/children", process, pending[i]))) {
      pending.push_back(child);
    }
  }
  return bytes;
}

}  // namespace

std::string spinner_text(std::string_view tool, seconds elapsed, std::uint64_t resident, unsigned turn) {
  constexpr std::array<char, 4> kMarks = {'|', '/', '-', '\\'};
  std::string text = fmt::format("{} {} {}", kMarks[turn % kMarks.size()], printable(tool), format_duration(elapsed));
  if (resident > 0) text += fmt::format(", {}", format_bytes(ByteCount{resident}));
  return text;
}

Spinner::Spinner(std::string tool) : tool_(std::move(tool)), outlet_(STDERR_FILENO) {
  if (!outlet_.is_terminal() || in_build_log()) return;
  before_each_line([this] { hide(); });
  thread_ = std::jthread([this] { turn(); });
}

Spinner::~Spinner() {
  before_each_line(nullptr);
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    wipe_locked();
  }
  stop_.notify_all();
}

void Spinner::hide() {
  const std::scoped_lock lock(mutex_);
  quiet_since_ = steady_clock::now();
  wipe_locked();
}

// Do not wait for a terminal that takes nothing now (Ctrl-S): the line is not important.
void Spinner::wipe_locked() {
  if (!std::exchange(shown_, false)) return;
  static_cast<void>(outlet_.write_some(kWipe));
}

void Spinner::turn() {
  unsigned turns = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (stop_.wait_for(lock, kTurn, [this] { return stopping_; })) return;
      // Do not overwrite a line that the tool has not ended.
      if (steady_clock::now() - quiet_since_ < kSilence || !at_line_start()) continue;
    }
    const std::uint64_t resident = resident_below_us();
    const std::scoped_lock lock(mutex_);
    if (stopping_ || steady_clock::now() - quiet_since_ < kSilence) continue;
    const seconds elapsed = std::chrono::duration_cast<seconds>(steady_clock::now() - begin_);
    const std::string line = fmt::format("{}{}", kWipe, spinner_text(tool_, elapsed, resident, turns++));
    shown_ = outlet_.write_some(line) > 0 || shown_;
  }
}

}  // namespace sallyport::cli
