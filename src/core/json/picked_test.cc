#include "core/json/picked.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace sallyport {
namespace {

TEST(Picked, IsTheObjectWithTheseMembersOnly) {
  const std::string text =
      R"( {"a":1 , "b" :{"x":[1,{"y":"}]"}],"z":"q"},"c":"a\"}\\","d":[[],{}],"e":null, "f":-1.5e3} )";
  const Json whole = Json::parse(text);
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    EXPECT_EQ(picked(text, {name}), Json({{name, whole[name]}})) << name;
  }
  EXPECT_EQ(picked_text(text, {"f", "a"}), R"({"a":1,"f":-1.5e3})");
  EXPECT_EQ(picked_text(text, {"b.z", "b.nothing", "nothing"}), R"({"b":{"z":"q"}})");
  EXPECT_EQ(picked_text("{}", {"a"}), "{}");
}

TEST(Picked, AMemberOfWhatIsNoObjectIsLeftOut) {
  EXPECT_EQ(picked_text(R"({"a":[1],"b":2})", {"a.x", "b"}), R"({"b":2})");
}

TEST(Picked, WhatIsNoObjectIsNothing) {
  for (const char* text :
       {"", "[]", "1", "{", "{}x", R"({"a")", R"({"a":)", R"({"a":})", R"({"a":1)", R"({"a":1,})", R"({"a":"x)",
        R"({"a":"\")", R"({"a":[1})", R"({"a":1 "b":2})", R"({a:1})", R"({"a":{"b":1})"}) {
    EXPECT_EQ(picked_text(text, {"a"}), "") << text;
    EXPECT_TRUE(picked(text, {"a"}).is_discarded()) << text;
  }
  // It parses wanted members and only skips the others.
  EXPECT_TRUE(picked(R"({"a":nonsense,"b":1})", {"a"}).is_discarded());
  EXPECT_EQ(picked_text(R"({"a":nonsense,"b":1})", {"b"}), R"({"b":1})");
}

TEST(Picked, DepthCostsNothing) {
  const std::string deep = R"({"a":)" + std::string(100'000, '[') + std::string(100'000, ']') + R"(,"b":7})";
  EXPECT_EQ(picked_text(deep, {"b"}), R"({"b":7})");
}

}  // namespace
}  // namespace sallyport
