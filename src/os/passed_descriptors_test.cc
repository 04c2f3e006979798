// Descriptors that come with a message are owned at once, and no more of them than were asked for.
#include "os/passed_descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace sallyport {
namespace {

class PassedDescriptors : public testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    ours_ = UniqueFd(ends[0]);
    theirs_ = UniqueFd(ends[1]);
  }

  // Sends "text" with our end of the pair, as many times as asked.
  void send(std::size_t count) const {
    std::string text = "text";
    iovec part{text.data(), text.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 2)> passed{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (count > 0) {
      message.msg_control = passed.data();
      message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
      cmsghdr* const header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof(int) * count);
      const std::array<int, 2> fds = {theirs_.get(), theirs_.get()};
      std::memcpy(CMSG_DATA(header), fds.data(), sizeof(int) * count);
    }
    ASSERT_EQ(::sendmsg(theirs_.get(), &message, 0), 4);
  }

  [[nodiscard]] ReceivedMessage receive(std::size_t most) {
    return receive_with_descriptors(ours_.get(), std::as_writable_bytes(std::span(text_)), most, MSG_DONTWAIT);
  }
  [[nodiscard]] bool is_their_end(const UniqueFd& fd) const {
    struct stat one{};
    struct stat other{};
    return ::fstat(fd.get(), &one) == 0 && ::fstat(theirs_.get(), &other) == 0 && one.st_ino == other.st_ino;
  }

  UniqueFd ours_{};
  UniqueFd theirs_{};
  std::array<char, 8> text_{};
};

TEST_F(PassedDescriptors, ComeWithTheirMessageCloseOnExec) {
  send(2);
  const ReceivedMessage received = receive(2);
  EXPECT_EQ(received.size, 4);
  EXPECT_EQ(std::string(text_.data()), "text");
  ASSERT_EQ(received.descriptors.size(), 2U);
  for (const UniqueFd& fd : received.descriptors) {
    EXPECT_TRUE(is_their_end(fd));
    EXPECT_EQ(::fcntl(fd.get(), F_GETFD), FD_CLOEXEC);
  }
}

TEST_F(PassedDescriptors, BeyondTheMostAreDropped) {
  send(2);
  const ReceivedMessage received = receive(1);
  EXPECT_EQ(received.size, 4);
  ASSERT_EQ(received.descriptors.size(), 1U);
  EXPECT_TRUE(is_their_end(received.descriptors.front()));
}

TEST_F(PassedDescriptors, AreNoneWithAMessageAloneOrWithout) {
  send(0);
  EXPECT_TRUE(receive(2).descriptors.empty());
  const ReceivedMessage nothing = receive(2);
  EXPECT_EQ(nothing.size, -1);
  EXPECT_EQ(errno, EAGAIN);
  theirs_.reset();
  EXPECT_EQ(receive(2).size, 0);
}

TEST_F(PassedDescriptors, AreClosedWithAMessageThatNobodyWants) {
  send(1);
  int fd = -1;
  {
    const ReceivedMessage received = receive(1);
    ASSERT_EQ(received.descriptors.size(), 1U);
    fd = received.descriptors.front().get();
  }
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
}

}  // namespace
}  // namespace sallyport
