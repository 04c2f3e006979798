// Checks the owner's encoder against the helper's decoder, and what the decoder refuses.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "os/memfd.h"
#include "spawn/helper/run.h"
#include "spawn/wire/launch_spec.h"

namespace sallyport::spawn {
namespace {

constexpr std::size_t kHeader = sizeof(wire::Image);

// Decodes as the helper does: from a descriptor, into a mapping of its own.
class Mapped {
 public:
  explicit Mapped(const std::string& bytes) : size_(bytes.size()) {
    const Result<UniqueFd> fd = sealed_memfd("image", bytes);
    result_ = fd ? helper::map_image(run_, fd->get()) : -1;
  }
  ~Mapped() {
    if (run_.image != nullptr) ::munmap(run_.image, size_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  [[nodiscard]] bool accepted() const { return result_ == 0; }
  [[nodiscard]] const wire::Image& image() const { return *run_.image; }
  [[nodiscard]] std::string text(std::uint64_t at) const { return run_.at(at); }
  [[nodiscard]] std::string bytes(std::uint64_t at, std::size_t size) const { return {run_.at(at), size}; }
  template <class T>
  [[nodiscard]] std::span<const T> array(std::uint32_t at, std::uint32_t count) const {
    return {reinterpret_cast<const T*>(run_.at(at)), count};
  }
  // The offsets are pointers by now, and a null follows the last.
  [[nodiscard]] std::vector<std::string> pointers(std::uint32_t at, std::uint32_t count) const {
    const auto slots = array<const char*>(at, count + 1);
    EXPECT_EQ(slots.back(), nullptr);
    return {slots.begin(), slots.end() - 1};
  }
  [[nodiscard]] std::vector<std::string> texts(std::uint32_t at, std::uint32_t count) const {
    std::vector<std::string> all;
    for (const std::uint64_t offset : array<std::uint64_t>(at, count)) all.push_back(text(offset));
    return all;
  }

 private:
  std::size_t size_;
  helper::Run run_{};
  long result_ = -1;
};

LaunchSpec jailed_spec() {
  LaunchSpec spec;
  spec.argv = {"git", "", "log\nx"};
  spec.env = {"A=1", "HOME=/tmp/home"};
  spec.limits = {{.resource = 4, .soft = 1, .hard = 2}};
  spec.place = JailPlace{
      .root_ops = {{.kind = wire::OpKind::kDirectory, .target = "usr", .mode = 0755},
                   {.kind = wire::OpKind::kBind,
                    .target = "repo",
                    .source = "/home/me/repo",
                    .flags = wire::kOpReadOnly,
                    .identity = FileIdentity{.device = 7, .inode = 9}},
                   {.kind = wire::OpKind::kFile, .target = "etc/x", .content = std::string("a\0b", 3), .mode = 0444}},
      .cwd = "/repo/sub",
      .exe = {.path = "/usr/bin/git", .device = 0x0801, .inode = 5, .size = 6, .mtime_ns = 7},
      .landlock_writable = {"/tmp", "/repo"},
      .seccomp = std::string(16, 'f'),
      .allow_speculation = true};
  spec.network = {.messages = {{.protocol = 12, .bytes = std::string("m\0n", 3), .flag_when_done = 4, .keep = true}},
                  .sockets = {{.type = 1, .port = 443}}};
  return spec;
}

TEST(LaunchImage, ArrivesAsItWasSent) {
  const Mapped mapped(encode(jailed_spec(), {}, StdinIs::kNullDevice));
  ASSERT_TRUE(mapped.accepted());
  const wire::Image& image = mapped.image();
  EXPECT_EQ(mapped.pointers(image.argv_at, image.argv_count), jailed_spec().argv);
  EXPECT_EQ(mapped.pointers(image.env_at, image.env_count), jailed_spec().env);
  EXPECT_EQ(image.flags, wire::kJailed | wire::kNullStdin | wire::kAllowSpeculation);
  const auto limits = mapped.array<wire::ResourceLimit>(image.limits_at, image.limit_count);
  ASSERT_EQ(limits.size(), 1U);
  EXPECT_EQ(limits[0].resource, 4U);
  EXPECT_EQ(limits[0].soft, 1U);
  EXPECT_EQ(limits[0].hard, 2U);
  EXPECT_EQ(mapped.texts(image.writable_at, image.writable_count), (std::vector<std::string>{"/tmp", "/repo"}));
  EXPECT_EQ(mapped.bytes(image.seccomp_at, image.seccomp_count * 8), std::string(16, 'f'));
  EXPECT_EQ(mapped.text(image.cwd), "/repo/sub");
  EXPECT_EQ(mapped.text(image.exec_path), "/usr/bin/git");
  EXPECT_EQ(image.exec_device, (std::uint64_t{8} << 32U) | 1U) << "as statx gives it";
  EXPECT_EQ(image.exec_inode, 5U);
  EXPECT_EQ(image.exec_size, 6U);
  EXPECT_EQ(image.exec_mtime_ns, 7);
}

TEST(LaunchImage, HasEachStepOfTheRoot) {
  const Mapped mapped(encode(jailed_spec()));
  ASSERT_TRUE(mapped.accepted());
  const auto ops = mapped.array<wire::Op>(mapped.image().ops_at, mapped.image().op_count);
  ASSERT_EQ(ops.size(), 3U);
  EXPECT_EQ(ops[0].kind, wire::OpKind::kDirectory);
  EXPECT_EQ(mapped.text(ops[0].target), "usr");
  EXPECT_EQ(ops[0].mode, 0755U);
  EXPECT_EQ(ops[0].device, 0U) << "nothing to compare";
  EXPECT_EQ(mapped.text(ops[1].source), "/home/me/repo");
  EXPECT_EQ(ops[1].flags, wire::kOpReadOnly);
  EXPECT_EQ(ops[1].device, 7U);
  EXPECT_EQ(ops[1].inode, 9U);
  EXPECT_EQ(mapped.bytes(ops[2].content, ops[2].content_size), std::string("a\0b", 3));
}

TEST(LaunchImage, HasTheNetwork) {
  const Mapped mapped(encode(jailed_spec()));
  ASSERT_TRUE(mapped.accepted());
  const auto messages =
      mapped.array<wire::NetMessage>(mapped.image().net_messages_at, mapped.image().net_message_count);
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].protocol, 12U);
  EXPECT_EQ(mapped.bytes(messages[0].bytes, messages[0].size), std::string("m\0n", 3));
  EXPECT_EQ(messages[0].required, 1U);
  EXPECT_EQ(messages[0].flag_when_done, 4U);
  EXPECT_EQ(messages[0].keep, 1U);
  const auto sockets = mapped.array<wire::NetSocket>(mapped.image().net_sockets_at, mapped.image().net_socket_count);
  ASSERT_EQ(sockets.size(), 1U);
  EXPECT_EQ(sockets[0].type, 1U);
  EXPECT_EQ(sockets[0].port, 443U);
}

TEST(LaunchImage, LeavesOutWhatIsBuiltAlready) {
  const LaunchSpec spec = jailed_spec();
  const auto& ops = std::get<JailPlace>(spec.place).root_ops;
  const Mapped mapped(encode(spec, {.root_ops = {ops[0], ops[1]}}));
  ASSERT_TRUE(mapped.accepted());
  ASSERT_EQ(mapped.image().op_count, 1U);
  EXPECT_EQ(mapped.text(mapped.array<wire::Op>(mapped.image().ops_at, 1)[0].target), "etc/x");
}

TEST(LaunchImage, SaysWhetherAWholeJailIsSealed) {
  for (const bool joins : {false, true}) {
    const Mapped mapped(encode(JailShape{.joins_cgroups = joins, .whole = true}));
    ASSERT_TRUE(mapped.accepted());
    EXPECT_NE(mapped.image().flags & wire::kWholeJail, 0U);
    EXPECT_EQ((mapped.image().flags & wire::kSealedJail) == 0, joins) << "the tool joins first, so it locks itself";
  }
}

TEST(LaunchImage, OfARunWithoutAJailNamesNoJail) {
  for (const bool wrapper : {false, true}) {
    LaunchSpec spec;
    spec.argv = {"echo"};
    spec.place = NoJailPlace{.is_wrapper = wrapper};
    const Mapped mapped(encode(spec));
    ASSERT_TRUE(mapped.accepted());
    EXPECT_EQ(mapped.image().flags, wrapper ? wire::kWrapper : 0U);
    EXPECT_EQ(mapped.image().op_count, 0U);
  }
}

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
