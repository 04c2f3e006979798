#include "spawn/wire/helper_start.h"

#include <gtest/gtest.h>

#include <string>

namespace sallyport::spawn::wire {
namespace {

std::string written(const HelperStart& start) {
  char text[kHelperArgumentSize];
  write_helper_argument(start, text);
  return text;
}

TEST(HelperArgument, IsReadAsItWasWritten) {
  const HelperStart starts[] = {
      {.kind = HelperKind::kWorkers, .ready = 2},
      {.kind = HelperKind::kInits, .ready = 64},
      {.kind = HelperKind::kInits, .ready = 1, .uid = 1000, .gid = 7, .as_another = true},
      {.kind = HelperKind::kInits, .ready = UINT32_MAX, .uid = UINT32_MAX, .gid = UINT32_MAX, .as_another = true},
      {.kind = HelperKind::kOneRun, .uid = 0, .gid = UINT32_MAX},
      {.kind = HelperKind::kOneRun, .uid = UINT32_MAX, .gid = UINT32_MAX},
      {.kind = HelperKind::kWrapped, .image_fd = 17},
      {.kind = HelperKind::kFramed},
      {.kind = HelperKind::kGuest}};
  for (const HelperStart& start : starts) {
    HelperStart read;
    ASSERT_TRUE(read_helper_argument(written(start).c_str(), read)) << written(start);
    EXPECT_EQ(read.kind, start.kind);
    EXPECT_EQ(read.ready, start.ready);
    EXPECT_EQ(read.uid, start.uid);
    EXPECT_EQ(read.gid, start.gid);
    EXPECT_EQ(read.as_another, start.as_another);
    EXPECT_EQ(read.image_fd, start.image_fd);
  }
  EXPECT_EQ(written({.kind = HelperKind::kWrapped, .image_fd = 17}), "17") << "it is in bwrap's command line";
}

TEST(HelperArgument, OfAnyOtherFormIsRefused) {
  HelperStart start;
  for (const char* text :
       {"",       "w",      "i",   "o",    "o1",    "o1,",      "o,1",         "o1;2",
        "w2x",    "w-1",    "w 2", "b17",  "x1",    "17x",      "w4294967296", "99999999999999999999",
        "o1,2,3", "w2,1,1", "i2,", "i2,1", "i2,1,", "i2,1,1,1", "f1",          "g,"}) {
    EXPECT_FALSE(read_helper_argument(text, start)) << text;
  }
}

}  // namespace
}  // namespace sallyport::spawn::wire
