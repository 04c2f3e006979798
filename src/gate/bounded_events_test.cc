#include "gate/bounded_events.h"

#include <gtest/gtest.h>

#include <vector>

namespace sallyport {
namespace {

struct Counting final : EventSink {
  void emit(const Event& event) override { names.emplace_back(event.name); }
  std::vector<std::string> names;
};

Event unreachable(const std::string& host) {
  return {.level = EventLevel::kWarning, .name = "subproc.egress.unreachable", .fields = {{"host", host}}};
}

TEST(BoundedEvents, AnEventIsPassedOnOnceHoweverOftenItHappens) {
  Counting heard;
  BoundedEvents events(&heard);
  for (int i = 0; i < 100'000; ++i) events.emit(unreachable("closed.test"));
  EXPECT_EQ(heard.names.size(), 1U);
  events.emit(unreachable("other.test"));  // positive control: a different event is passed on
  EXPECT_EQ(heard.names.size(), 2U);
}

TEST(BoundedEvents, DifferentOnesAreBoundedToo) {
  Counting heard;
  BoundedEvents events(&heard);
  for (std::size_t i = 0; i < 3 * BoundedEvents::kMost; ++i) events.emit(unreachable(std::to_string(i)));
  ASSERT_EQ(heard.names.size(), BoundedEvents::kMost + 1);
  EXPECT_EQ(heard.names.back(), "subproc.egress.more_events");
}

TEST(BoundedEvents, NobodyNeedsToListen) { BoundedEvents(nullptr).emit(unreachable("x.test")); }

}  // namespace
}  // namespace sallyport
