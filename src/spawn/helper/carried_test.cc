// Carried connections, both sides in one process: each takes what the other sends, and detects what no honest side
// sends.
#include "spawn/helper/carried.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sallyport/unique_fd.h"
#include "spawn/helper/frames.h"
#include "spawn/helper/loopback_pair.h"

namespace sallyport::spawn::helper {
namespace {

using wire::FrameKind;
using wire::kCarriedWindow;
using wire::kMostCarried;

std::pair<UniqueFd, UniqueFd> tcp_pair() {
  int one = -1;
  int other = -1;
  EXPECT_EQ(make_loopback_pair(one, other), 0);
  return {UniqueFd(one), UniqueFd(other)};
}

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 31 + i / 251);
  return text;
}

// One side: its table, and its frames on their way out.
struct Side {
  Side()
      : carried(std::make_unique<Carried>()),
        out(std::make_unique<FrameOutbox>()),
        in(std::make_unique<FrameReader>()) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    reads = UniqueFd(ends[0]);
    writes = UniqueFd(ends[1]);
    out->open(writes.get(), FrameOutbox::Writes::kWhenReady);
  }
  std::unique_ptr<Carried> carried;
  std::unique_ptr<FrameOutbox> out;
  std::unique_ptr<FrameReader> in;  // reads what the other side sends
  UniqueFd reads{};
  UniqueFd writes{};
};

class CarriedTest : public testing::Test {
 protected:
  // Whether something moved.
  bool turn(Side& side, Side& from) {
    bool moved = false;
    std::vector<struct pollfd> entries(kMostCarried);
    side.carried->watch(entries.data(), *side.out);
    EXPECT_GE(::poll(entries.data(), entries.size(), 0), 0);
    for (const auto& entry : entries) moved = moved || entry.revents != 0;
    side.carried->serve(entries.data(), *side.out);
    moved = moved || side.out->waits();
    side.out->flush();
    FrameReader::Got got = FrameReader::Got::kPart;
    for (int i = 0; i < 8; ++i) {
      got = side.in->read_some(from.reads.get());
      if (got != FrameReader::Got::kFrame) continue;
      moved = true;
      fine_ = fine_ && side.carried->take(side.in->kind(), side.in->bytes(), side.in->size());
      side.in->forget();
    }
    return moved;
  }
  void turns() {
    for (int idle = 0; idle < 8;) {
      const bool moved = turn(inside_, outside_);
      idle = turn(outside_, inside_) || moved ? 0 : idle + 1;
    }
    EXPECT_TRUE(fine_);
  }
  // The tool's end and the owner's end of a carried connection.
  std::pair<UniqueFd, UniqueFd> connect() {
    auto [tools, accepted] = tcp_pair();
    auto [workers, owners] = tcp_pair();
    const std::uint32_t id = inside_.carried->free_id();
    EXPECT_TRUE(outside_.carried->is_free(id));
    inside_.carried->open(id, accepted.release());
    outside_.carried->open(id, workers.release());
    return {std::move(tools), std::move(owners)};
  }
  // Reads what is there now. errno says why it stopped; 0 means end of file.
  static std::string read_all(int fd, std::size_t most = SIZE_MAX) {
    std::string text;
    std::array<char, 65536> piece{};
    while (text.size() < most) {
      const ssize_t got = ::recv(fd, piece.data(), std::min(piece.size(), most - text.size()), MSG_DONTWAIT);
      if (got == 0) errno = 0;
      if (got <= 0) break;
      text.append(piece.data(), static_cast<std::size_t>(got));
    }
    return text;
  }

  Side inside_;
  Side outside_;
  bool fine_ = true;
};

TEST_F(CarriedTest, BytesGoBothWaysAndAHalfCloseStaysHalf) {
  auto [tool, owner] = connect();
  ASSERT_EQ(::send(tool.get(), "question", 8, 0), 8);
  ASSERT_EQ(::shutdown(tool.get(), SHUT_WR), 0);
  turns();
  EXPECT_EQ(read_all(owner.get()), "question");
  EXPECT_EQ(errno, 0) << "no end";
  ASSERT_EQ(::send(owner.get(), "answer", 6, 0), 6);
  turns();
  EXPECT_EQ(read_all(tool.get()), "answer");
  EXPECT_EQ(errno, EAGAIN) << "the other half was closed too";
  owner.reset();
  turns();
  EXPECT_EQ(read_all(tool.get()), "");
  EXPECT_EQ(errno, 0);
  EXPECT_TRUE(inside_.carried->is_free(0) && outside_.carried->is_free(0));
}

TEST_F(CarriedTest, AResetArrivesBehindWhatWasSaidBefore) {
  auto [tool, owner] = connect();
  ASSERT_EQ(::send(owner.get(), "no", 2, 0), 2);
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(owner.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  owner.reset();
  turns();
  EXPECT_EQ(read_all(tool.get()), "no");
  EXPECT_EQ(errno, ECONNRESET);
  EXPECT_TRUE(inside_.carried->is_free(0) && outside_.carried->is_free(0));
}

// A reader that does not read stops the writer, and neither side holds more than its window.
TEST_F(CarriedTest, AnEndThatDoesNotReadStopsTheOther) {
  auto [tool, owner] = connect();
  const std::string all = pattern(std::size_t{8} << 20U);
  std::size_t sent = 0;
  const auto send_more = [&, fd = tool.get()] {
    for (;;) {
      const ssize_t put = ::send(fd, all.data() + sent, all.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (put <= 0) return;
      sent += static_cast<std::size_t>(put);
    }
  };
  for (int i = 0; i < 64; ++i) {
    send_more();
    turns();
  }
  ASSERT_LT(sent, all.size()) << "somebody holds all of it";
  std::string got;
  while (got.size() < all.size()) {
    send_more();
    turns();
    const std::string more = read_all(owner.get());
    ASSERT_FALSE(more.empty() && sent == all.size()) << got.size();
    got += more;
  }
  EXPECT_TRUE(got == all);
}

TEST_F(CarriedTest, OneThatStandsStillHoldsUpNobodyElse) {
  auto [stuck_tool, stuck_owner] = connect();
  const std::string much = pattern(std::size_t{4} << 20U);
  for (int i = 0; i < 64; ++i) {
    static_cast<void>(::send(stuck_owner.get(), much.data(), much.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
    turns();
  }
  auto [tool, owner] = connect();
  ASSERT_EQ(::send(owner.get(), "here", 4, 0), 4);
  turns();
  EXPECT_EQ(read_all(tool.get()), "here");
}

TEST_F(CarriedTest, NumbersAreFreeAgainWhenBothSidesAreDone) {
  for (int i = 0; i < 200; ++i) {
    auto [tool, owner] = connect();
    const std::string text = std::to_string(i);
    ASSERT_EQ(::send(tool.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    if (i % 3 == 0) tool.reset();
    turns();
    EXPECT_EQ(read_all(owner.get()), text);
    owner.reset();
    tool.reset();
    turns();
  }
  EXPECT_TRUE(inside_.carried->is_free(0) && outside_.carried->is_free(0));
}

TEST_F(CarriedTest, WhatIsKeptIsThereWhenTheOtherSideIsDone) {
  auto [workers, owners] = tcp_pair();
  inside_.carried->open_kept(0, 5);
  outside_.carried->open(0, workers.release());
  std::size_t size = 0;
  EXPECT_EQ(inside_.carried->kept(0, size), nullptr);
  ASSERT_EQ(::send(owners.get(), "\0\2hi", 4, 0), 4);
  turns();
  EXPECT_EQ(inside_.carried->kept(0, size), nullptr) << "not all of it";
  owners.reset();
  turns();
  const char* const all = inside_.carried->kept(0, size);
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(std::string(all, size), std::string("\0\2hi", 4));
  inside_.carried->done(0);
  turns();
  EXPECT_TRUE(inside_.carried->is_free(0) && outside_.carried->is_free(0));
}

// The worker trusts the init inside no more than it trusts the tool.
class HostileSide : public CarriedTest {
 protected:
  HostileSide() {
    auto [ours, theirs] = tcp_pair();
    outside_.carried->open(3, ours.release());
    owner_ = std::move(theirs);
  }
  bool take(FrameKind kind, const std::string& bytes) {
    return outside_.carried->take(kind, bytes.data(), bytes.size());
  }
  static std::string data(std::uint32_t id, std::size_t size) { return bytes_of(id) + std::string(size, 'x'); }
  UniqueFd owner_{};
};

TEST_F(HostileSide, SaysNothingAboutWhatIsNotOpen) {
  EXPECT_TRUE(take(FrameKind::kData, data(3, 1)));  // the control
  for (const std::uint32_t id : {0U, 2U, 4U, kMostCarried - 1, kMostCarried, 0xffffffffU}) {
    EXPECT_FALSE(take(FrameKind::kData, data(id, 1))) << id;
    EXPECT_FALSE(take(FrameKind::kFinish, bytes_of(id))) << id;
    EXPECT_FALSE(take(FrameKind::kCredit, bytes_of(wire::CarriedCredit{id, 1}))) << id;
    EXPECT_FALSE(take(FrameKind::kGone, bytes_of(wire::CarriedGone{id, 1}))) << id;
  }
}

TEST_F(HostileSide, SendsNoMoreThanItWasGranted) {
  EXPECT_TRUE(take(FrameKind::kData, data(3, wire::kCarriedPiece)));
  EXPECT_FALSE(take(FrameKind::kData, data(3, kCarriedWindow - wire::kCarriedPiece + 1)));
  EXPECT_TRUE(take(FrameKind::kData, data(3, kCarriedWindow - wire::kCarriedPiece)));
  EXPECT_FALSE(take(FrameKind::kData, data(3, 1)));
}

TEST_F(HostileSide, SendsNothingOfASizeThatCannotBe) {
  EXPECT_FALSE(take(FrameKind::kData, data(3, 0)));
  EXPECT_FALSE(take(FrameKind::kData, std::string(3, '\3')));
  EXPECT_FALSE(take(FrameKind::kData, ""));
  EXPECT_FALSE(take(FrameKind::kData, data(3, kCarriedWindow + 1)));
  EXPECT_FALSE(take(FrameKind::kFinish, bytes_of(3U) + "x"));
  EXPECT_FALSE(take(FrameKind::kCredit, bytes_of(3U)));
  EXPECT_FALSE(take(FrameKind::kGone, bytes_of(3U)));
  EXPECT_FALSE(take(FrameKind::kGone, bytes_of(wire::CarriedGone{3, 2})));
  EXPECT_FALSE(take(FrameKind::kReport, bytes_of(3U)));
  EXPECT_TRUE(take(FrameKind::kFinish, bytes_of(3U)));  // the control: all that was refused changed nothing
}

TEST_F(HostileSide, GivesBackNoMoreThanItGot) {
  EXPECT_FALSE(take(FrameKind::kCredit, bytes_of(wire::CarriedCredit{3, 1})));
  EXPECT_FALSE(take(FrameKind::kCredit, bytes_of(wire::CarriedCredit{3, 0})));
  EXPECT_FALSE(take(FrameKind::kCredit, bytes_of(wire::CarriedCredit{3, 0xffffffffU})));
  ASSERT_EQ(::send(owner_.get(), "ab", 2, 0), 2);
  turn(outside_, inside_);
  EXPECT_FALSE(take(FrameKind::kCredit, bytes_of(wire::CarriedCredit{3, 3})));
  EXPECT_TRUE(take(FrameKind::kCredit, bytes_of(wire::CarriedCredit{3, 2})));
}

TEST_F(HostileSide, SaysNothingBehindItsLastWord) {
  EXPECT_FALSE(take(FrameKind::kGone, bytes_of(wire::CarriedGone{3, 0}))) << "orderly, and nobody has finished";
  EXPECT_TRUE(take(FrameKind::kFinish, bytes_of(3U)));
  EXPECT_FALSE(take(FrameKind::kFinish, bytes_of(3U)));
  EXPECT_FALSE(take(FrameKind::kData, data(3, 1)));
  EXPECT_TRUE(take(FrameKind::kGone, bytes_of(wire::CarriedGone{3, 1})));
  EXPECT_FALSE(take(FrameKind::kGone, bytes_of(wire::CarriedGone{3, 1})));
  EXPECT_FALSE(take(FrameKind::kCredit, bytes_of(wire::CarriedCredit{3, 1})));
}

TEST(Outbox, KeepsRoomForACommand) {
  Side side;
  const std::string piece(wire::kLargestFrame, 'x');
  while (side.out->put(FrameKind::kInput, piece.data(), piece.size())) {
  }
  while (side.out->put(FrameKind::kInput, "x", 1)) {
  }
  EXPECT_FALSE(side.out->has_room_for(0));
  EXPECT_TRUE(side.out->put_command("T", 1));
  // Every byte comes out, in order.
  std::size_t input = 0;
  bool commanded = false;
  while (!commanded) {
    side.out->flush();
    if (side.in->read_some(side.reads.get()) != FrameReader::Got::kFrame) continue;
    commanded = side.in->kind() == FrameKind::kCommand;
    input += commanded ? 0 : side.in->size();
    side.in->forget();
  }
  EXPECT_GE(input, 3 * piece.size());
  EXPECT_FALSE(side.out->waits());
}

}  // namespace
}  // namespace sallyport::spawn::helper
