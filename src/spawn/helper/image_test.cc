// The helper's decoder: which messages it refuses, and that the pointers in each accepted one are valid. encode_test.cc tests
// the messages that the owner sends.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <string>

#include "spawn/helper/test_image.h"

namespace sallyport::spawn {
namespace {

constexpr std::size_t kHeader = sizeof(wire::Image);

// Every string and array of an accepted image lies in the mapping.
bool can_be_followed(const Mapped& mapped, std::size_t size) {
  const wire::Image& image = mapped.image();
  bool all_inside = true;
  const auto inside = [&](std::uint64_t at, std::uint64_t count) {
    all_inside = all_inside && at <= size && count <= size - at;
  };
  for (const std::string& text : mapped.pointers(image.argv_at, image.argv_count)) inside(0, text.size());
  for (const std::string& text : mapped.pointers(image.env_at, image.env_count)) inside(0, text.size());
  for (const std::string& text : mapped.texts(image.writable_at, image.writable_count)) inside(0, text.size());
  for (const wire::Op& op : mapped.array<wire::Op>(image.ops_at, image.op_count)) {
    inside(op.source, mapped.text(op.source).size() + 1);
    inside(op.target, mapped.text(op.target).size() + 1);
    inside(op.content, op.content_size);
  }
  for (const wire::NetMessage& message :
       mapped.array<wire::NetMessage>(image.net_messages_at, image.net_message_count)) {
    inside(message.bytes, message.size);
  }
  inside(image.seccomp_at, std::uint64_t{image.seccomp_count} * 8);
  inside(image.cwd, mapped.text(image.cwd).size() + 1);
  inside(image.exec_path, mapped.text(image.exec_path).size() + 1);
  inside(image.network_word, mapped.text(image.network_word).size() + 1);
  return all_inside;
}

TEST(LaunchImage, CutAnywhereIsRefused) {
  const std::string whole = encode(jailed_spec());
  ASSERT_TRUE(Mapped(whole).accepted());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::string cut = whole.substr(0, size);
    EXPECT_FALSE(Mapped(cut).accepted()) << size;
    if (size < kHeader) continue;
    // If the header fits, only what needs the lost bytes is refused.
    const std::uint64_t claimed = size;
    std::memcpy(cut.data() + offsetof(wire::Image, size), &claimed, sizeof claimed);
    const Mapped mapped(cut);
    EXPECT_TRUE(!mapped.accepted() || can_be_followed(mapped, size)) << size;
  }
}

TEST(LaunchImage, WithAnOffsetOrCountOutsideIsRefused) {
  const std::string whole = encode(jailed_spec());
  const std::size_t fields[] = {offsetof(wire::Image, argv_at),
                                offsetof(wire::Image, argv_count),
                                offsetof(wire::Image, env_at),
                                offsetof(wire::Image, env_count),
                                offsetof(wire::Image, ops_at),
                                offsetof(wire::Image, op_count),
                                offsetof(wire::Image, limits_at),
                                offsetof(wire::Image, limit_count),
                                offsetof(wire::Image, seccomp_at),
                                offsetof(wire::Image, seccomp_count),
                                offsetof(wire::Image, writable_at),
                                offsetof(wire::Image, writable_count),
                                offsetof(wire::Image, net_messages_at),
                                offsetof(wire::Image, net_message_count),
                                offsetof(wire::Image, net_sockets_at),
                                offsetof(wire::Image, net_socket_count),
                                offsetof(wire::Image, cwd),
                                offsetof(wire::Image, exec_path),
                                offsetof(wire::Image, network_word_at),
                                offsetof(wire::Image, network_word),
                                offsetof(wire::Image, cgroup_count),
                                offsetof(wire::Image, passed_count)};
  for (const std::size_t field : fields) {
    for (const std::uint32_t hostile : {static_cast<std::uint32_t>(whole.size() + 1), UINT32_MAX, 0x7ffffff8U}) {
      std::string bytes = whole;
      std::memcpy(bytes.data() + field, &hostile, sizeof hostile);
      EXPECT_FALSE(Mapped(bytes).accepted()) << "at " << field << ": " << hostile;
    }
  }
}

TEST(LaunchImage, OfAnotherMagicIsRefused) {
  std::string bytes = encode(jailed_spec());
  bytes[0] = static_cast<char>(bytes[0] ^ 1);
  EXPECT_FALSE(Mapped(bytes).accepted());
}

RC_GTEST_PROP(LaunchImage, WithAnyBytesChangedIsRefusedOrCanBeFollowed, ()) {
  std::string bytes = encode(jailed_spec());
  const auto changes = *rc::gen::container<std::vector<std::pair<std::size_t, char>>>(
      rc::gen::pair(rc::gen::inRange<std::size_t>(0, bytes.size()), rc::gen::arbitrary<char>()));
  for (const auto& [at, value] : changes) bytes[at] = value;
  const Mapped mapped(bytes);
  // Not in one expression: RC_ASSERT would evaluate both sides of it.
  if (!mapped.accepted()) return;
  RC_ASSERT(can_be_followed(mapped, bytes.size()));
}

}  // namespace
}  // namespace sallyport::spawn
