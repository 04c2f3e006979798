#include "spawn/helper/carry_worker.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <string>

#include "sallyport/unique_fd.h"

namespace sallyport::spawn::helper {
namespace {

using wire::FrameKind;
using wire::kMostCarried;

// The worker gives each connection that it hands over its own number, whatever number the init sends.
class CarryingWorker : public testing::Test {
 protected:
  CarryingWorker() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
    ours_ = UniqueFd(ends[0]);
    owners_ = UniqueFd(ends[1]);
    run_.handed_fd = ours_.get();
  }
  static std::string open_frame(std::uint32_t id, std::uint16_t port, std::uint16_t is_ipv6 = 0) {
    wire::CarriedOpen open{};
    open.id = id;
    open.wanted.port = port;
    open.wanted.is_ipv6 = is_ipv6;
    open.wanted.number = 77;
    open.wanted.address[0] = 127;
    return {reinterpret_cast<const char*>(&open), sizeof open};
  }
  bool take(CarryWorker& worker, const std::string& bytes) {
    return worker.take(FrameKind::kOpen, bytes.data(), bytes.size());
  }
  helper::Run run_{};
  UniqueFd ours_{};
  UniqueFd owners_{};
};

TEST_F(CarryingWorker, HandsOverWhatIsOpenedOnceOnly) {
  CarryWorker worker(run_);
  EXPECT_TRUE(take(worker, open_frame(0, 443)));
  wire::Handed handed{};
  ASSERT_EQ(::recv(owners_.get(), &handed, sizeof handed, 0), static_cast<ssize_t>(sizeof handed));
  EXPECT_EQ(handed.port, 443);
  EXPECT_EQ(handed.number, 1U);
  for (const std::string& bad : {open_frame(0, 443), open_frame(kMostCarried, 443), open_frame(0xffffffff, 443),
                                 open_frame(1, 443, 1), open_frame(1, 443) + "x", std::string()}) {
    EXPECT_FALSE(take(worker, bad));
  }
  EXPECT_EQ(::recv(owners_.get(), &handed, sizeof handed, 0), -1) << "something was handed over";
  EXPECT_TRUE(take(worker, open_frame(1, 53)));  // the control
  EXPECT_EQ(::recv(owners_.get(), &handed, sizeof handed, 0), static_cast<ssize_t>(sizeof handed));
}

}  // namespace
}  // namespace sallyport::spawn::helper
