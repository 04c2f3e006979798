// A run's channel with nobody but this test at its other end: what the run makes of each report.
#include "spawn/owner/helper_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>

namespace sallyport::spawn {
namespace {

using wire::ReportKind;

enum class Ahead { kNo, kYes };

class Channel {
 public:
  explicit Channel(const LaunchSpec& spec = {}, Ahead ahead = Ahead::kNo) : spec_(spec) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    worker_ = UniqueFd(ends[1]);
    const int show_senders = spec_.run_as ? 1 : 0;  // as HelperClient::submit() does
    EXPECT_EQ(::setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &show_senders, sizeof show_senders), 0);
    run_.emplace(StartedRun{.run = {.channel = UniqueFd(ends[0])},
                            .helper = std::make_shared<HelperClient>(),
                            .built_ahead = ahead == Ahead::kYes},
                 supply_, spec_, ToolStreams{});
  }

  [[nodiscard]] HelperRun& run() { return *run_; }
  void close() { worker_.reset(); }

  void send(const wire::Report& report, std::span<const int> fds = {}) const {
    wire::Report bytes = report;
    iovec part{&bytes, sizeof bytes};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 4)> passed{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!fds.empty()) {
      message.msg_control = passed.data();
      message.msg_controllen = CMSG_SPACE(fds.size_bytes());
      cmsghdr* const header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(fds.size_bytes());
      std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
    }
    ASSERT_EQ(::sendmsg(worker_.get(), &message, 0), static_cast<ssize_t>(sizeof bytes));
  }

  // The run's own report about `report`, when it is a T.
  template <class T>
  std::optional<T> answer(const wire::Report& report, std::span<const int> fds = {}) {
    send(report, fds);
    Result<RunReport> got = run_->next();
    if (!got || !std::holds_alternative<T>(*got)) return std::nullopt;
    return std::get<T>(*std::move(got));
  }

 private:
  const LaunchSpec spec_;
  JailSupply supply_{{}};
  UniqueFd worker_;
  std::optional<HelperRun> run_{};
};

wire::Report report_of(ReportKind kind, std::uint32_t flags = 0) {
  wire::Report report{};
  report.kind = kind;
  report.flags = flags;
  return report;
}

wire::Report failure(std::uint32_t flags = 0) {
  wire::Report report = report_of(ReportKind::kFailed, flags);
  report.stage = wire::Stage::kSourceIdentity;
  report.error = ESTALE;
  return report;
}

// Two files that a test can distinguish after they arrived under other descriptor numbers.
class TwoFiles {
 public:
  [[nodiscard]] std::array<int, 2> fds() const { return {root_.get(), null_.get()}; }
  static bool is_root(const UniqueFd& fd) { return is_same(fd, "/"); }
  static bool is_null(const UniqueFd& fd) { return is_same(fd, "/dev/null"); }

 private:
  static bool is_same(const UniqueFd& fd, const char* path) {
    struct stat one{};
    struct stat other{};
    if (::fstat(fd.get(), &one) != 0 || ::stat(path, &other) != 0) return false;
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
  }
  const UniqueFd root_{::open("/", O_PATH | O_CLOEXEC)};
  const UniqueFd null_{::open("/dev/null", O_RDWR | O_CLOEXEC)};
};

TEST(HelperRun, SaysOfTheNetworkWhatWasReported) {
  const struct {
    std::uint32_t flag;
    bool NetworkOpened::* fact;
  } facts[] = {{wire::kRefusalsShown, &NetworkOpened::refusals_shown},
               {wire::kHandsThemOver, &NetworkOpened::connections_handed},
               {wire::kLoopbackOnly, &NetworkOpened::loopback_only}};
  const TwoFiles sockets;
  Channel channel;
  for (const auto& [flag, fact] : facts) {
    const auto network = channel.answer<NetworkOpened>(report_of(ReportKind::kNetwork, flag), sockets.fds());
    ASSERT_TRUE(network);
    for (const auto& [other, its] : facts) EXPECT_EQ((*network).*its, other == flag) << flag << ", " << other;
    ASSERT_EQ(network->sockets.size(), 2U);
    EXPECT_TRUE(TwoFiles::is_root(network->sockets[0])) << "in their order";
    EXPECT_TRUE(TwoFiles::is_null(network->sockets[1]));
  }
}

TEST(HelperRun, SaysOfTheToolWhatWasReported) {
  const struct {
    std::uint32_t of_network;
    std::uint32_t of_start;
    bool RunFacts::* fact;
  } facts[] = {{0, wire::kAppliedLandlock, &RunFacts::landlocked},
               {wire::kPortsRedirected, 0, &RunFacts::ports_redirected},
               {0, wire::kCarriesThem, &RunFacts::connections_carried}};
  for (const auto& one : facts) {
    Channel channel;
    ASSERT_TRUE(channel.answer<NetworkOpened>(report_of(ReportKind::kNetwork, one.of_network)));
    const auto started = channel.answer<ToolStarted>(report_of(ReportKind::kStarted, one.of_start));
    ASSERT_TRUE(started);
    for (const auto& other : facts) EXPECT_EQ(started->facts.*other.fact, other.fact == one.fact);
  }
}

// The user comes from the kernel, which names the sender of the report, not from the request.
TEST(HelperRun, ReportsTheToolsUserWhenTheCallAskedForOne) {
  Channel ours;
  EXPECT_FALSE(ours.answer<ToolStarted>(report_of(ReportKind::kStarted))->facts.run_as);
  LaunchSpec of_another;
  of_another.run_as = UserIds{.uid = ::geteuid() + 1, .gid = ::getegid() + 1};
  Channel anothers(of_another);
  const TwoFiles files;
  const auto started = anothers.answer<ToolStarted>(report_of(ReportKind::kStarted), files.fds());
  ASSERT_TRUE(started);
  EXPECT_EQ(started->facts.run_as, (UserIds{.uid = ::geteuid(), .gid = ::getegid()}));
  EXPECT_TRUE(TwoFiles::is_root(started->scratch)) << "beside it";
  LaunchSpec of_engine;
  of_engine.place = NoJailPlace{.is_wrapper = true, .is_framed = true, .is_engine = true};
  Channel engines(of_engine);
  wire::Report inside = report_of(ReportKind::kStarted);
  inside.uid = 7;
  inside.gid = 8;
  EXPECT_EQ(engines.answer<ToolStarted>(inside)->facts.run_as, (UserIds{.uid = 7, .gid = 8}));
}

TEST(HelperRun, DistinguishesTheScratchFromTheTree) {
  const TwoFiles files;
  const std::array<int, 2> both = files.fds();
  Channel with_both;
  const auto started = with_both.answer<ToolStarted>(report_of(ReportKind::kStarted, wire::kTreeShown), both);
  ASSERT_TRUE(started);
  EXPECT_TRUE(TwoFiles::is_root(started->scratch));
  EXPECT_TRUE(TwoFiles::is_null(started->tree)) << "it comes last";
  Channel without_tree;
  const auto scratch = without_tree.answer<ToolStarted>(report_of(ReportKind::kStarted), std::span(both).first(1));
  ASSERT_TRUE(scratch);
  EXPECT_TRUE(TwoFiles::is_root(scratch->scratch));
  EXPECT_FALSE(scratch->tree);
  Channel without_scratch;
  const auto tree =
      without_scratch.answer<ToolStarted>(report_of(ReportKind::kStarted, wire::kTreeShown), std::span(both).last(1));
  ASSERT_TRUE(tree);
  EXPECT_FALSE(tree->scratch);
  EXPECT_TRUE(TwoFiles::is_null(tree->tree));
}

TEST(HelperRun, NamesTheStepThatFailedAndWhetherTheHostLacksIt) {
  Channel of_caller;
  const auto failed = of_caller.answer<StartFailed>(failure());
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->stage, SetupStage::kSourceIdentity);
  EXPECT_EQ(failed->error_number, ESTALE);
  EXPECT_FALSE(failed->host_cannot) << "the request is at fault";
  EXPECT_FALSE(failed->said_on_stderr);
  Channel of_host;
  wire::Report of_clone = failure();
  of_clone.stage = wire::Stage::kClone;
  EXPECT_TRUE(of_host.answer<StartFailed>(of_clone)->host_cannot);
  EXPECT_TRUE(host_lacks(SetupStage::kSourceIdentity, ENOSYS));
}

// Nothing has started in the unsound jail, so the run moves to another. Here that fails, which shows that the run tried.
TEST(HelperRun, GoesOnToAnotherJailWhenOneThatWasBuiltAheadIsUnsound) {
  Channel unsound({}, Ahead::kYes);
  unsound.send(failure(wire::kNotBuilt));
  const Result<RunReport> replaced = unsound.run().next();
  ASSERT_FALSE(replaced);
  EXPECT_NE(replaced.error().message.find("another shape"), std::string::npos) << replaced.error().message;
  Channel fresh;
  EXPECT_TRUE(fresh.answer<StartFailed>(failure(wire::kNotBuilt))) << "it was built for this run";
  Channel at_a_step({}, Ahead::kYes);
  EXPECT_TRUE(at_a_step.answer<StartFailed>(failure())) << "the jail was sound, the run is not";
  Channel stopped({}, Ahead::kYes);
  stopped.run().stop(StopStep::kTerminate);
  EXPECT_TRUE(stopped.answer<StartFailed>(failure(wire::kNotBuilt))) << "nobody wants it any more";
}

TEST(HelperRun, GivesTheToolsEndWithWhatItUsed) {
  Channel channel;
  ASSERT_TRUE(channel.answer<ToolStarted>(report_of(ReportKind::kStarted)));
  wire::Report exited = report_of(ReportKind::kExited);
  exited.wait_status = 3 << 8;
  exited.user_us = 11;
  exited.system_us = 12;
  exited.peak_rss_bytes = 13;
  const auto end = channel.answer<ToolEnded>(exited);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->wait_status, 3 << 8);
  EXPECT_FALSE(end->fate_unknown);
  EXPECT_EQ(end->usage.user, std::chrono::microseconds(11));
  EXPECT_EQ(end->usage.system, std::chrono::microseconds(12));
  EXPECT_EQ(end->usage.peak_rss_bytes, 13U);
  EXPECT_FALSE(end->is_last) << "somebody of the run may be alive";
  EXPECT_FALSE(end->of_guest) << "an init that counts nothing reports no counts";
}

TEST(HelperRun, IsOverWhenNobodyIsLeft) {
  Channel channel;
  const auto end = channel.answer<ToolEnded>(report_of(ReportKind::kExited, wire::kNobodyLeft));
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->is_last);
  EXPECT_FALSE(end->fate_unknown);
  EXPECT_LT(channel.run().event_fd(), 0);
  EXPECT_TRUE(std::holds_alternative<RunGone>(channel.run().next().value()));
}

TEST(HelperRun, KnowsNoFateOfAToolWhoseInitDied) {
  Channel channel;
  ASSERT_TRUE(channel.answer<ToolStarted>(report_of(ReportKind::kStarted)));
  wire::Report died = report_of(ReportKind::kExited, wire::kInitDied);
  died.wait_status = SIGKILL;
  const auto end = channel.answer<ToolEnded>(died);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->fate_unknown);
  EXPECT_EQ(end->wait_status, SIGKILL);
}

TEST(HelperRun, PassesOnWhatOnlyTheGuestCouldCount) {
  wire::Report exited = report_of(ReportKind::kExited);
  exited.oom_kills = 2;
  exited.scratch_bytes = 3;
  exited.scratch_files = 4;
  Channel of_memory;
  const auto killed = of_memory.answer<ToolEnded>(exited);
  ASSERT_TRUE(killed && killed->of_guest);
  EXPECT_EQ(killed->of_guest->oom_kills, 2U);
  EXPECT_EQ(killed->of_guest->scratch_bytes, 3U);
  EXPECT_EQ(killed->of_guest->scratch_files, 4U);
  EXPECT_FALSE(killed->of_guest->scratch_full);
  exited.oom_kills = 0;
  exited.scratch_was_full = 1;
  Channel of_scratch;
  const auto full = of_scratch.answer<ToolEnded>(exited);
  ASSERT_TRUE(full && full->of_guest);
  EXPECT_TRUE(full->of_guest->scratch_full);
}

// A wrapper's exit status is not the tool's. The run uses it only when the init inside died without a report.
TEST(HelperRun, TakesAWrappersEndForTheToolsOnlyWhenThereIsNoOther) {
  const wire::Report wrapper_left = report_of(ReportKind::kExited, wire::kWrapperExited);
  Channel usual;
  ASSERT_TRUE(usual.answer<ToolStarted>(report_of(ReportKind::kStarted)));
  ASSERT_TRUE(usual.answer<ToolEnded>(report_of(ReportKind::kExited)));
  EXPECT_TRUE(usual.answer<NothingNew>(wrapper_left));
  Channel without_end;
  ASSERT_TRUE(without_end.answer<ToolStarted>(report_of(ReportKind::kStarted)));
  const auto end = without_end.answer<ToolEnded>(wrapper_left);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->fate_unknown);
  Channel without_start;
  const auto failed = without_start.answer<StartFailed>(wrapper_left);
  ASSERT_TRUE(failed);
  EXPECT_TRUE(failed->host_cannot);
  EXPECT_TRUE(failed->said_on_stderr);
  Channel stopped;
  stopped.run().stop(StopStep::kTerminate);
  EXPECT_TRUE(stopped.answer<ToolEnded>(wrapper_left)) << "we ended it, the host did not";
}

// A worker that is busy killing a large tree exits without reading every command. The kernel then reports a reset
// (unix(7): ECONNRESET) ahead of the report that the worker had sent.
TEST(HelperRun, GetsTheLastReportOfAWorkerThatLeftACommandUnread) {
  Channel channel;
  channel.run().stop(StopStep::kKill);
  wire::Report sent = report_of(ReportKind::kExited);
  sent.wait_status = 9;
  channel.send(sent);
  channel.close();

  bool ended = false;
  bool gone = false;
  for (int i = 0; i < 4 && !gone; ++i) {
    const Result<RunReport> report = channel.run().next();
    ASSERT_TRUE(report) << report.error().message;
    if (const auto* end = std::get_if<ToolEnded>(&*report)) {
      ended = true;
      EXPECT_EQ(end->wait_status, 9);
    }
    gone = std::holds_alternative<RunGone>(*report);
  }
  EXPECT_TRUE(ended) << "the report was lost";
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace sallyport::spawn
