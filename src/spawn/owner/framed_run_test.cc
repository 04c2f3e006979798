// A framed run with only this test at the other end of its frames, and an outer run whose reports are scripted.
#include "spawn/owner/framed_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <string>
#include <utility>

namespace sallyport::spawn {
namespace {

using namespace std::chrono_literals;
using wire::FrameKind;

struct OuterScript {
  std::deque<RunReport> reports{};
  std::vector<StopStep> stops{};
};

class OuterRun final : public LiveRun {
 public:
  explicit OuterRun(OuterScript& script) : script_(script) { news_.signal(); }
  [[nodiscard]] int event_fd() const override { return script_.reports.empty() ? quiet_.fd() : news_.fd(); }
  [[nodiscard]] Result<RunReport> next() override {
    if (script_.reports.empty()) return RunReport(NothingNew{});
    RunReport report = std::move(script_.reports.front());
    script_.reports.pop_front();
    return report;
  }
  // A forced stop ends it.
  void stop(StopStep step) override {
    script_.stops.push_back(step);
    if (step == StopStep::kForce) script_.reports.push_back(ToolEnded{.wait_status = SIGKILL, .is_last = true});
  }

 private:
  OuterScript& script_;
  const EventFd news_ = EventFd::create().value();
  const EventFd quiet_ = EventFd::create().value();
};

class FramedRunTest : public testing::Test {
 protected:
  FramedRunTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    peer_ = UniqueFd(::fcntl(ends[1], F_DUPFD_CLOEXEC, 3));
    std::array<int, 2> out{};
    EXPECT_EQ(::pipe2(out.data(), O_CLOEXEC | O_NONBLOCK), 0);
    out_ = UniqueFd(out[0]);
    const UniqueFd tools(out[1]);
    script_.reports.push_back(ToolStarted{});
    run_ = FramedRun::open(std::make_unique<OuterRun>(script_), UniqueFd(ends[0]), UniqueFd(ends[1]),
                           {.in = -1, .out = tools.get(), .err = tools.get()},
                           {.jail = JailKind("framed"),
                            .image = "the image",
                            .patience = 10s,
                            .last_words = [](int) { return std::string("last words"); }})
               .value();
  }
  void send(FrameKind kind, std::string_view bytes) const {
    const wire::FrameHeader header{.kind = kind, .size = static_cast<std::uint32_t>(bytes.size())};
    ASSERT_EQ(::send(peer_.get(), &header, sizeof header, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof header));
    ASSERT_EQ(::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), std::ssize(bytes));
  }
  void report(const wire::Report& report) const {
    send(FrameKind::kReport, std::string_view(reinterpret_cast<const char*>(&report), sizeof report));
  }
  void report_started() const {
    wire::Report started{};
    started.kind = wire::ReportKind::kStarted;
    started.flags = ~0U;
    report(started);
  }
  // The next report other than NothingNew; or an error; or NothingNew when nothing wakes the run any more.
  Result<RunReport> news() {
    for (;;) {
      pollfd one{run_->event_fd(), POLLIN, 0};
      if (::poll(&one, 1, 20) == 0) return RunReport(NothingNew{});
      Result<RunReport> report = run_->next();
      if (!report || !std::holds_alternative<NothingNew>(*report)) return report;
    }
  }
  std::string output() const {
    std::string text(1 << 20, '\0');
    const ssize_t got = ::read(out_.get(), text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

  OuterScript script_;
  UniqueFd peer_;
  UniqueFd out_;
  std::unique_ptr<LiveRun> run_;
};

TEST_F(FramedRunTest, SendsTheImageAndReportsTheToolsLife) {
  report_started();
  send(FrameKind::kOutput, "hello");
  wire::Report ended{};
  ended.kind = wire::ReportKind::kExited;
  ended.wait_status = 3 << 8;
  ended.oom_kills = 2;
  report(ended);
  Result<RunReport> first = news();
  ASSERT_TRUE(first);
  ASSERT_TRUE(std::holds_alternative<ToolStarted>(*first));
  Result<RunReport> second = news();
  ASSERT_TRUE(second);
  const auto* end = std::get_if<ToolEnded>(&*second);
  ASSERT_NE(end, nullptr);
  EXPECT_EQ(end->wait_status, 3 << 8);
  EXPECT_TRUE(end->is_last);
  EXPECT_EQ(end->of_guest->oom_kills, 2U);
  EXPECT_EQ(output(), "hello");
  EXPECT_EQ(script_.stops, std::vector{StopStep::kForce}) << "the machine ends with its tool";
  std::array<char, 64> got{};
  ASSERT_GT(::recv(peer_.get(), got.data(), got.size(), MSG_DONTWAIT), 8);
  EXPECT_STREQ(got.data() + sizeof(wire::FrameHeader), "the image");
}

TEST_F(FramedRunTest, ThatLosesItsLinkBeforeTheToolIsUnavailable) {
  peer_.reset();
  const Result<RunReport> report = news();
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().as<JailUnavailable>(), nullptr);
  EXPECT_NE(report.error().message.find("last words"), std::string::npos) << report.error().message;
  EXPECT_EQ(script_.stops, std::vector{StopStep::kForce});
}

TEST_F(FramedRunTest, ThatLosesItsLinkUnderTheToolHasAnUnknownEnd) {
  report_started();
  ASSERT_TRUE(std::holds_alternative<ToolStarted>(news().value()));
  peer_.reset();
  const Result<RunReport> report = news();
  ASSERT_TRUE(report);
  const auto* end = std::get_if<ToolEnded>(&*report);
  ASSERT_NE(end, nullptr);
  EXPECT_TRUE(end->fate_unknown);
}

TEST_F(FramedRunTest, EndsWhatSendsAFrameThatIsTooLarge) {
  const wire::FrameHeader header{.kind = FrameKind::kOutput, .size = wire::kLargestFrame + 1};
  ASSERT_GT(::send(peer_.get(), &header, sizeof header, 0), 0);
  EXPECT_FALSE(news());
  EXPECT_EQ(script_.stops, std::vector{StopStep::kForce});
}

TEST_F(FramedRunTest, TakesNoEndBeforeABeginningAndNoOutputBeforeATool) {
  wire::Report ended{};
  ended.kind = wire::ReportKind::kExited;
  report(ended);
  send(FrameKind::kOutput, "forged");
  EXPECT_TRUE(std::holds_alternative<NothingNew>(news().value()));
  report_started();
  EXPECT_TRUE(std::holds_alternative<ToolStarted>(news().value()));
  EXPECT_EQ(output(), "");
  EXPECT_TRUE(script_.stops.empty());
}

TEST_F(FramedRunTest, WaitsForASlowReaderWithoutLosingAByte) {
  report_started();
  ASSERT_TRUE(std::holds_alternative<ToolStarted>(news().value()));
  const std::string much(60'000, 'x');
  for (int i = 0; i < 3; ++i) send(FrameKind::kOutput, much);
  std::string got;
  for (int i = 0; i < 100 && got.size() < 180'000; ++i) {
    EXPECT_TRUE(std::holds_alternative<NothingNew>(news().value()));
    got += output();
  }
  EXPECT_EQ(got.size(), 180'000U);
}

TEST_F(FramedRunTest, AsksTheToolToEndBeforeItForcesTheMachine) {
  report_started();
  ASSERT_TRUE(std::holds_alternative<ToolStarted>(news().value()));
  run_->stop(StopStep::kTerminate);
  EXPECT_TRUE(script_.stops.empty());
  run_->stop(StopStep::kForce);
  EXPECT_EQ(script_.stops, std::vector{StopStep::kForce});
  const Result<RunReport> report = news();
  ASSERT_TRUE(report);
  EXPECT_TRUE(std::holds_alternative<ToolEnded>(*report));
}

}  // namespace
}  // namespace sallyport::spawn
