#include "core/policy/toml_subset.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <string>

#include "core/text/utf8.h"

namespace sallyport::toml {
namespace {

Document parsed(std::string_view text) {
  std::expected<Document, Problem> document = parse(text);
  if (!document) ADD_FAILURE() << document.error().place.line << ": " << document.error().why;
  return document.value_or(Document{});
}

std::string text_of(const Document& document, std::string_view key) {
  const Pair* const pair = document.root.find(key);
  return pair == nullptr ? "(none)" : std::get<std::string>(pair->value.data);
}

TEST(TomlSubset, ReadsPairsTablesAndComments) {
  const Document document = parsed(
      "\xef\xbb\xbf# first\r\n a-b_1 = \"x\" # behind\n\n[[ tool ]]\nlist = [ # one\n 'a', \n\"b\",\n]\nyes = true\n"
      "[[tool]]\nno=false");
  EXPECT_EQ(text_of(document, "a-b_1"), "x");
  ASSERT_EQ(document.tables.size(), 2U);
  EXPECT_EQ(document.tables[0].name, "tool");
  EXPECT_EQ(document.tables[0].place.line, 4U);
  const Array& list = std::get<Array>(document.tables[0].find("list")->value.data);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(std::get<std::string>(list[1].data), "b");
  EXPECT_TRUE(std::get<bool>(document.tables[0].find("yes")->value.data));
  EXPECT_FALSE(std::get<bool>(document.tables[1].find("no")->value.data));
}

TEST(TomlSubset, StringsHoldAnyCharacterAndTheirEscapes) {
  EXPECT_EQ(text_of(parsed(R"(k = "\b\t\n\f\r\"\\ \u00e9 \U0001F600 ü")"), "k"), "\b\t\n\f\r\"\\ é 😀 ü");
  EXPECT_EQ(text_of(parsed(R"(k = 'a\n"b"')"), "k"), "a\\n\"b\"");
}

TEST(TomlSubset, ANumberIsAWordThatNoKeyTakes) {
  EXPECT_EQ(std::get<Word>(parsed("k = -1.5e3").root.find("k")->value.data).text, "-1.5e3");
}

struct Wrong {
  std::string_view text;
  unsigned line;
  unsigned column;
};

TEST(TomlSubset, WhatItDoesNotUnderstandIsAProblemWithItsPlace) {
  constexpr auto kWrong = std::to_array<Wrong>({
      {"x = = 1\n", 1, 5},
      {"a.b = 1\n", 1, 2},
      {"\"a\" = 1\n", 1, 1},
      {"[tool]\n", 1, 1},
      {"[[tool]\n", 1, 8},
      {"[[tool]] x\n", 1, 10},
      {"[[=", 1, 3},
      {"a = 1\na = 2\n", 2, 1},
      {"a = \"\"\"x\"\"\"\n", 1, 5},
      {"a = '''x'''\n", 1, 5},
      {"a = \"x\n", 1, 7},
      {"a = \"\\x\"\n", 1, 6},
      {"a = \"\\u12\"\n", 1, 6},
      {"a = \"\\ud800\"\n", 1, 6},
      {"a = \"\\U00110000\"\n", 1, 6},
      {"a = \"\x01\"\n", 1, 6},
      {"a = [\"x\" \"y\"]\n", 1, 10},
      {"a = [[\"x\"]]\n", 1, 6},
      {"a = {b = 1}\n", 1, 5},
      {"a = [\n", 2, 1},
      {"a\n", 1, 2},
      {"a = \"\xc3\xa9\" b\n", 1, 9},
      {"\xce\xb1 = 1\n", 1, 1},
      {"# \x01\n", 1, 3},
      {"a = true b\n", 1, 10},
  });
  for (const Wrong& wrong : kWrong) {
    const std::expected<Document, Problem> document = parse(wrong.text);
    ASSERT_FALSE(document.has_value()) << wrong.text;
    EXPECT_EQ(document.error().place.line, wrong.line) << wrong.text << document.error().why;
    EXPECT_EQ(document.error().place.column, wrong.column) << wrong.text << document.error().why;
  }
}

RC_GTEST_PROP(TomlSubset, AnyStringComesBackFromItsLiteral, (const std::u32string& any)) {
  std::string escaped;
  std::string plain;
  for (const char32_t c : any) {
    const char32_t valid = c % 0xd800U;
    char digits[11];
    std::snprintf(digits, sizeof digits, "\\U%08x", static_cast<unsigned>(valid));
    escaped += digits;
    plain += std::get<std::string>(parsed(std::string("k=\"") + digits + "\"").root.find("k")->value.data);
  }
  RC_ASSERT(is_valid_utf8(plain));
  RC_ASSERT(text_of(parsed("k = \"" + escaped + "\""), "k") == plain);
}

}  // namespace
}  // namespace sallyport::toml
