// The owner's encoder against the helper's decoder: each field of a launch arrives. A field that gets lost on the way would leave a
// limit, a lock or a place of the tool at its default.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "spawn/helper/test_image.h"

namespace sallyport::spawn {
namespace {

using wire::ImageFlag;

RootOp decoded(const Mapped& mapped, const wire::Op& op) {
  EXPECT_EQ(op.tree_fd, -1) << "nothing is open yet";
  RootOp back{.kind = op.kind,
              .target = mapped.text(op.target),
              .source = mapped.text(op.source),
              .content = mapped.bytes(op.content, op.content_size),
              .flags = op.flags,
              .mode = op.mode};
  if (op.device != 0) back.identity = FileIdentity{.device = op.device, .inode = op.inode};
  return back;
}

std::vector<RootOp> decoded_ops(const Mapped& mapped) {
  std::vector<RootOp> back;
  for (const wire::Op& op : mapped.array<wire::Op>(mapped.image().ops_at, mapped.image().op_count)) {
    back.push_back(decoded(mapped, op));
  }
  return back;
}

NetworkSpec decoded_network(const Mapped& mapped) {
  const wire::Image& image = mapped.image();
  NetworkSpec back;
  for (const auto& message : mapped.array<wire::NetMessage>(image.net_messages_at, image.net_message_count)) {
    back.messages.push_back({.protocol = message.protocol,
                             .bytes = mapped.bytes(message.bytes, message.size),
                             .required = message.required != 0,
                             .flag_when_done = message.flag_when_done,
                             .only_with = message.only_with,
                             .not_with = message.not_with,
                             .keep = message.keep != 0});
  }
  for (const auto& socket : mapped.array<wire::NetSocket>(image.net_sockets_at, image.net_socket_count)) {
    back.sockets.push_back({.type = socket.type, .port = static_cast<std::uint16_t>(socket.port)});
  }
  back.carried = {.from = image.carried_from, .count = image.carried_count};
  return back;
}

std::string seccomp_of(const Mapped& mapped) {
  return mapped.bytes(mapped.image().seccomp_at, std::size_t{mapped.image().seccomp_count} * 8);
}

TEST(LaunchImage, OfAJailArrivesAsItWasSent) {
  const Mapped mapped(encode(jailed_spec(), {}, StdinIs::kNullDevice));
  ASSERT_TRUE(mapped.accepted());
  const wire::Image& image = mapped.image();
  const JailPlace sent = std::get<JailPlace>(jailed_spec().place);
  EXPECT_EQ(image.flags, wire::kJailed | wire::kNullStdin | wire::kAllowSpeculation);
  EXPECT_EQ(decoded_ops(mapped), sent.root_ops);
  EXPECT_EQ(mapped.texts(image.writable_at, image.writable_count), sent.landlock_writable);
  EXPECT_EQ(seccomp_of(mapped), sent.seccomp);
  EXPECT_EQ(mapped.text(image.cwd), sent.cwd);
  EXPECT_EQ(mapped.text(image.exec_path), sent.exe.path);
  EXPECT_EQ(image.exec_device, (std::uint64_t{8} << 32U) | 1U) << "as statx gives it";
  EXPECT_EQ(image.exec_inode, sent.exe.inode);
  EXPECT_EQ(image.exec_size, sent.exe.size);
  EXPECT_EQ(image.exec_mtime_ns, sent.exe.mtime_ns);
}

TEST(LaunchImage, HasWhatEveryToolIsStartedWith) {
  LaunchSpec spec = jailed_spec();
  spec.run_as = UserIds{.uid = 1001, .gid = 1002};
  spec.cgroup_procs_fds = {7, 8};
  spec.passed_fds = {9, 10, 11};
  spec.report_tree = true;
  spec.fail_at_for_tests = wire::Stage::kSeccomp;
  const Mapped mapped(encode(spec));
  ASSERT_TRUE(mapped.accepted());
  const wire::Image& image = mapped.image();
  EXPECT_EQ(image.flags, wire::kJailed | wire::kAllowSpeculation | wire::kReportTree | wire::kAsAnother);
  EXPECT_EQ(mapped.pointers(image.argv_at, image.argv_count), spec.argv);
  EXPECT_EQ(mapped.pointers(image.env_at, image.env_count), spec.env);
  const auto limits = mapped.array<wire::ResourceLimit>(image.limits_at, image.limit_count);
  ASSERT_EQ(limits.size(), 1U);
  EXPECT_EQ(limits[0].resource, 4U);
  EXPECT_EQ(limits[0].soft, 1U);
  EXPECT_EQ(limits[0].hard, 2U);
  EXPECT_EQ(image.as_uid, 1001U);
  EXPECT_EQ(image.as_gid, 1002U);
  EXPECT_EQ(image.cgroup_count, 2U);
  EXPECT_EQ(image.passed_count, 3U);
  EXPECT_EQ(image.fault_at, wire::Stage::kSeccomp);
}

TEST(LaunchImage, HasTheWordOfAWrapperWhoseNetworkIsOptional) {
  LaunchSpec spec = jailed_spec();
  const Mapped without(encode(spec));
  ASSERT_TRUE(without.accepted());
  EXPECT_EQ(without.image().network_word_at, 0U);
  spec.with_network = NetworkWord{.at = 2, .word = "--with-network"};
  const Mapped mapped(encode(spec));
  ASSERT_TRUE(mapped.accepted());
  EXPECT_EQ(mapped.image().network_word_at, 2U);
  EXPECT_EQ(mapped.text(mapped.image().network_word), "--with-network");
  EXPECT_EQ(mapped.pointers(mapped.image().argv_at, mapped.image().argv_count), spec.argv)
      << "until there is a network";
  spec.with_network->at = 3;
  EXPECT_FALSE(Mapped(encode(spec)).accepted()) << "there is no such argument";
}

TEST(LaunchImage, HasTheNetwork) {
  const Mapped mapped(encode(jailed_spec()));
  ASSERT_TRUE(mapped.accepted());
  EXPECT_EQ(decoded_network(mapped), jailed_spec().network);
}

TEST(LaunchImage, LeavesOutWhatIsBuiltAlready) {
  const LaunchSpec spec = jailed_spec();
  const auto& ops = std::get<JailPlace>(spec.place).root_ops;
  const Mapped mapped(encode(spec, {.root_ops = {ops[0], ops[1]}}));
  ASSERT_TRUE(mapped.accepted());
  EXPECT_EQ(decoded_ops(mapped), std::vector{ops[2]});
}

TEST(LaunchImage, LeavesOutTheNetworkThatIsBuiltAlreadyAndNoOther) {
  const LaunchSpec spec = jailed_spec();
  const Mapped same(encode(spec, {.network = spec.network}));
  ASSERT_TRUE(same.accepted());
  EXPECT_EQ(decoded_network(same), NetworkSpec());
  NetworkSpec other = spec.network;
  other.sockets.back().port += 1;
  const Mapped another(encode(spec, {.network = other}));
  ASSERT_TRUE(another.accepted());
  EXPECT_EQ(decoded_network(another), spec.network);
}

TEST(LaunchImage, OfAShapeHasAllThatCanBeBuiltAhead) {
  const LaunchSpec spec = jailed_spec();
  const auto& jail = std::get<JailPlace>(spec.place);
  for (const bool joins : {false, true}) {
    const Mapped mapped(encode(JailShape{.root_ops = jail.root_ops,
                                         .network = spec.network,
                                         .landlock_writable = jail.landlock_writable,
                                         .seccomp = jail.seccomp,
                                         .allow_speculation = true,
                                         .joins_cgroups = joins,
                                         .whole = true,
                                         .fail_at_for_tests = wire::Stage::kPivot}));
    ASSERT_TRUE(mapped.accepted());
    EXPECT_EQ(mapped.image().flags,
              wire::kJailed | wire::kAllowSpeculation | wire::kWholeJail | (joins ? ImageFlag{} : wire::kSealedJail))
        << "a tool that joins cgroups does so first, so it locks itself";
    EXPECT_EQ(decoded_ops(mapped), jail.root_ops);
    EXPECT_EQ(decoded_network(mapped), spec.network);
    EXPECT_EQ(mapped.texts(mapped.image().writable_at, mapped.image().writable_count), jail.landlock_writable);
    EXPECT_EQ(seccomp_of(mapped), jail.seccomp);
    EXPECT_EQ(mapped.image().fault_at, wire::Stage::kPivot);
  }
}

// Each alone, so that none can stand for another.
TEST(LaunchImage, SaysOfWhichKindAJailIs) {
  const struct {
    std::function<void(JailPlace&)> change;
    std::uint32_t flags;
  } kinds[] = {
      {[](JailPlace&) {}, 0},
      {[](JailPlace& jail) { jail.wrapped = true; }, wire::kWrapped},
      {[](JailPlace& jail) { jail.in_runtime = true; }, wire::kInRuntime},
      {[](JailPlace& jail) { jail.in_engine = true; }, wire::kEngine},
      {[](JailPlace& jail) { jail.exe_places = {"/bin/git"}; }, wire::kExecSearched},
      {[](JailPlace& jail) { jail.allow_speculation = true; }, wire::kAllowSpeculation},
      {[](JailPlace& jail) { jail.guest.emplace(); }, wire::kInGuest | wire::kWrapped},
      {[](JailPlace& jail) { jail.guest = GuestPlace{.network = true}; },
       wire::kInGuest | wire::kWrapped | wire::kGuestNetwork},
      {[](JailPlace& jail) { jail.guest = GuestPlace{.writes = true}; },
       wire::kInGuest | wire::kWrapped | wire::kGuestWrites},
  };
  for (const auto& [change, flags] : kinds) {
    LaunchSpec spec;
    change(spec.place.emplace<JailPlace>());
    const Mapped mapped(encode(spec));
    ASSERT_TRUE(mapped.accepted());
    EXPECT_EQ(mapped.image().flags, wire::kJailed | flags);
  }
}

TEST(LaunchImage, OfAMachineHasWhatItsInitHolds) {
  LaunchSpec spec = jailed_spec();
  std::get<JailPlace>(spec.place).guest = GuestPlace{.memory = std::uint64_t{5} << 32U, .pids = 77};
  const Mapped mapped(encode(spec));
  ASSERT_TRUE(mapped.accepted());
  EXPECT_EQ(mapped.image().guest_memory, std::uint64_t{5} << 32U);
  EXPECT_EQ(mapped.image().guest_pids, 77U);
}

TEST(LaunchImage, NamesEachPlaceThatAToolOfAnImageMayHave) {
  LaunchSpec spec = jailed_spec();
  std::get<JailPlace>(spec.place).exe_places = {"/usr/bin/git", "/bin/git"};
  const Mapped mapped(encode(spec));
  ASSERT_TRUE(mapped.accepted());
  EXPECT_EQ(mapped.text(mapped.image().exec_path), "/usr/bin/git:/bin/git");
}

TEST(LaunchImage, OfARunWithoutAJailNamesNoJail) {
  const struct {
    NoJailPlace place;
    std::uint32_t flags;
  } kinds[] = {
      {{}, 0},
      {{.is_wrapper = true}, wire::kWrapper},
      {{.is_runtime = true}, wire::kInRuntime},
      {{.is_framed = true}, wire::kFramed},
      {{.is_engine = true}, wire::kEngine},
      {{.hands_connections = true}, wire::kHandsConnections},
  };
  for (const auto& [place, flags] : kinds) {
    LaunchSpec spec;
    spec.argv = {"echo"};
    spec.place = place;
    const Mapped mapped(encode(spec));
    ASSERT_TRUE(mapped.accepted());
    EXPECT_EQ(mapped.image().flags, flags);
    EXPECT_EQ(mapped.image().op_count, 0U);
  }
}

TEST(LaunchImage, OfAConfinedToolHasItsLocks) {
  LaunchSpec spec;
  spec.argv = {"echo"};
  spec.place = ConfinedPlace{.seccomp = std::string(24, 's'), .writable = {"/repo", "/tmp"}};
  const Mapped mapped(encode(spec));
  ASSERT_TRUE(mapped.accepted());
  EXPECT_EQ(mapped.image().flags, wire::kConfined);
  EXPECT_EQ(seccomp_of(mapped), std::string(24, 's'));
  EXPECT_EQ(mapped.texts(mapped.image().writable_at, mapped.image().writable_count),
            (std::vector<std::string>{"/repo", "/tmp"}));
  spec.place = ConfinedPlace{.hands_connections = true};
  EXPECT_EQ(Mapped(encode(spec)).image().flags, wire::kConfined | wire::kHandsConnections);
  spec.place = ConfinedPlace{.allow_speculation = true};
  EXPECT_EQ(Mapped(encode(spec)).image().flags, wire::kConfined | wire::kAllowSpeculation);
}

}  // namespace
}  // namespace sallyport::spawn
