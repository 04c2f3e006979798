// A real worker, and at the other end of its frames an attacker in the place of our init: a shell that prints frames.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <optional>
#include <span>
#include <utility>

#include "os/memfd.h"
#include "os/passed_descriptors.h"
#include "spawn/owner/helper_client.h"
#include "spawn/wire/carried.h"
#include "spawn/wire/frame.h"

namespace sallyport::spawn {
namespace {

using wire::FrameKind;

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string frame(FrameKind kind, const std::string& bytes) {
  return bytes_of(wire::FrameHeader{kind, static_cast<std::uint32_t>(bytes.size())}) + bytes;
}

std::string open_frame(std::uint32_t id) {
  wire::CarriedOpen open{};
  open.id = id;
  open.wanted.port = 53;
  return frame(FrameKind::kOpen, bytes_of(open));
}

class HostileInit : public testing::Test {
 protected:
  struct Heard {
    wire::Report report{};
    UniqueFd fd{};
  };

  // Prints the frames, and lives on until it is killed.
  void start(const std::string& frames) {
    std::string script = "printf '";
    for (const char byte : frames) script += fmt::format("\\{:03o}", static_cast<unsigned char>(byte));
    image_ = std::move(*sealed_memfd("image", "none"));
    LaunchSpec spec;
    spec.argv = {"sh", "-c", script + "'; exec sleep 600"};
    spec.place = NoJailPlace{.exe_fd = exe_.get(),
                             .cwd_fd = cwd_.get(),
                             .is_wrapper = true,
                             .is_framed = true,
                             .is_engine = true,
                             .hands_connections = true};
    spec.passed_fds = {image_.get()};
    Result<Started> started = helper_.submit(spec, {.in = null_.get(), .out = null_.get(), .err = null_.get()});
    ASSERT_TRUE(started) << started.error().message;
    channel_ = std::move(started->channel);
    const std::optional<Heard> first = next();
    ASSERT_TRUE(first && first->report.kind == wire::ReportKind::kNetwork);
    EXPECT_EQ(first->report.flags, wire::kHandsThemOver | wire::kLoopbackOnly);
    handed_ = UniqueFd(::fcntl(first->fd.get(), F_DUPFD_CLOEXEC, 3));
  }

  [[nodiscard]] std::optional<Heard> next() const {
    pollfd ready{channel_.get(), POLLIN, 0};
    if (::poll(&ready, 1, 60000) <= 0) return std::nullopt;
    Heard heard;
    ReceivedMessage received =
        receive_with_descriptors(channel_.get(), std::as_writable_bytes(std::span(&heard.report, 1)), 1, 0);
    if (received.size != sizeof heard.report) return std::nullopt;
    if (!received.descriptors.empty()) heard.fd = std::move(received.descriptors.front());
    return heard;
  }

  void expect_killed() const {
    const std::optional<Heard> last = next();
    ASSERT_TRUE(last) << "it lives on";
    EXPECT_EQ(last->report.kind, wire::ReportKind::kExited);
    EXPECT_NE(last->report.flags & wire::kWrapperExited, 0U);
    EXPECT_TRUE(WIFSIGNALED(last->report.wait_status));
  }

  HelperClient helper_;
  const UniqueFd exe_{::open("/bin/sh", O_PATH | O_CLOEXEC)};
  const UniqueFd cwd_{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  const UniqueFd null_{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  UniqueFd image_{};
  UniqueFd channel_{};
  UniqueFd handed_{};
};

// The control: the worker does what our init could have asked for.
TEST_F(HostileInit, IsBelievedWhatItMaySay) {
  start(open_frame(0) + frame(FrameKind::kData, bytes_of(0U) + "question"));
  pollfd ready{handed_.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&ready, 1, 60000), 1);
  wire::Handed handed{};
  ASSERT_EQ(::recv(handed_.get(), &handed, sizeof handed, 0), static_cast<ssize_t>(sizeof handed));
  EXPECT_EQ(handed.port, 53);
}

TEST_F(HostileInit, IsKilledForDataOfAConnectionThatIsNotOpen) {
  start(frame(FrameKind::kData, bytes_of(5U) + "x"));
  expect_killed();
}

TEST_F(HostileInit, IsKilledForOpeningANumberTwice) {
  start(open_frame(0) + open_frame(0));
  expect_killed();
}

TEST_F(HostileInit, IsKilledForMoreCreditThanThereIs) {
  start(open_frame(0) + frame(FrameKind::kCredit, bytes_of(wire::CarriedCredit{0, wire::kCarriedWindow})));
  expect_killed();
}

TEST_F(HostileInit, IsKilledForANumberBeyondTheTable) {
  start(open_frame(wire::kMostCarried));
  expect_killed();
}

}  // namespace
}  // namespace sallyport::spawn
