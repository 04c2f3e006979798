#include "egress/event_outbox.h"

#include <gmock/gmock.h>

#include <semaphore>

#include "egress/test_jail.h"

namespace sallyport {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::SizeIs;

std::string line_of(const Event& event) {
  std::string line(event.name);
  for (const auto& [name, value] : event.fields) line += " " + std::string(name) + "=" + value;
  return line;
}

// Records events; blocks until `open`.
class Gatekeeper final : public EventSink {
 public:
  void emit(const Event& event) override {
    entered_.release();
    open_.acquire();
    const std::scoped_lock lock(mutex_);
    lines_.push_back(line_of(event));
  }
  void open() { open_.release(1'000'000); }
  void wait_until_called() { entered_.acquire(); }
  std::vector<std::string> lines() {
    const std::scoped_lock lock(mutex_);
    return lines_;
  }

 private:
  std::counting_semaphore<2'000'000> open_{0};
  std::counting_semaphore<2'000'000> entered_{0};
  std::mutex mutex_{};
  std::vector<std::string> lines_{};
};

TEST(EventOutbox, DeliversInOrderAndToNobodyIfThereIsNone) {
  Gatekeeper sink;
  sink.open();
  EventOutbox outbox(&sink);
  for (const char* name : {"a", "b", "c"}) outbox.emit({.name = name, .fields = {}});
  outbox.close();
  EXPECT_THAT(sink.lines(), ElementsAre("a", "b", "c"));
  EventOutbox nobody(nullptr);
  nobody.emit({.name = "a", .fields = {}});
}

// C35: the sender continues whatever the sink does, and the queue is bounded.
TEST(EventOutbox, DoesNotWaitForABlockedSinkAndCountsWhatItDrops_C35) {
  Gatekeeper sink;
  EventOutbox outbox(&sink, 3);
  outbox.emit({.name = "first", .fields = {}});
  sink.wait_until_called();
  for (int i = 0; i < 10; ++i) outbox.emit({.name = "more", .fields = {}});
  sink.open();
  outbox.close();
  EXPECT_THAT(sink.lines(), ElementsAre("first", "more", "more", "more", "subproc.egress.events_dropped count=7"));
}

TEST(UnreachableLog, ReportsEachHostOnceAndHowOftenAtTheEnd_C35) {
  Gatekeeper sink;
  sink.open();
  UnreachableLog log(sink);
  log.add("a.test", 80, "refused");
  log.add("b.test", 80, "refused");
  for (int i = 0; i < 1000; ++i) log.add("a.test", 80, "refused");
  log.summarise();
  EXPECT_THAT(sink.lines(), ElementsAre("subproc.egress.unreachable host=a.test port=80 why=refused",
                                        "subproc.egress.unreachable host=b.test port=80 why=refused",
                                        "subproc.egress.unreachable host=a.test port=80 why=refused count=1001"));
}

TEST(UnreachableLog, IsBoundedInNumber_C35) {
  Gatekeeper sink;
  sink.open();
  UnreachableLog log(sink);
  for (int i = 0; i < 10'000; ++i) log.add(std::to_string(i) + ".test", 443, "refused");
  log.summarise();
  EXPECT_THAT(sink.lines(), SizeIs(UnreachableLog::kMostEntries + 2));
  EXPECT_EQ(sink.lines().back(), "subproc.egress.unreachable host=more hosts port=0 why= count=9936");
}

}  // namespace

namespace test {
namespace {

class BlockedSink : public NetTest {};

// C35: a sink that does not return delays neither the connections nor the denials of a run.
TEST_F(BlockedSink, HoldsUpNothingButItself_C35) {
  Gatekeeper sink;
  Recorder server("welcome");
  Jail jail({rule_to("raw.test", server.port(), {kNamedPort})}, {.events = &sink});
  EXPECT_EQ(jail.ask("first.test", kDnsTypeA).rcode, 3);
  sink.wait_until_called();
  EXPECT_EQ(jail.ask("second.test", kDnsTypeA).rcode, 3);
  const UniqueFd client = jail.open("raw.test", kNamedPort);
  ASSERT_TRUE(client);
  EXPECT_EQ(receive(client.get(), 7).bytes, "welcome");
  sink.open();
  EXPECT_THAT(jail.stop(), SizeIs(2));
  EXPECT_THAT(sink.lines(), SizeIs(2));
}

TEST_F(BlockedSink, GetsAnUnreachableHostTwiceAtMost_C35) {
  Gatekeeper sink;
  sink.open();
  std::uint16_t closed = 0;
  {
    const Recorder server;
    closed = server.port();
  }
  Jail jail({rule_to("raw.test", closed, {kNamedPort})}, {.events = &sink});
  for (int i = 0; i < 50; ++i) {
    const UniqueFd client = jail.open("raw.test", kNamedPort);
    if (client) static_cast<void>(receive(client.get()));
  }
  EXPECT_THAT(jail.stop(), SizeIs(0));
  EXPECT_THAT(sink.lines(), SizeIs(2));
  EXPECT_TRUE(sink.lines().back().ends_with("count=50")) << sink.lines().back();
}

}  // namespace
}  // namespace test
}  // namespace sallyport
