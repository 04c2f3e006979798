#include "core/egress/host_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include "core/text/printable.h"

namespace sallyport {
namespace {

using namespace std::string_literals;

std::string normalised(std::string_view text) {
  const Result<std::string> name = normalise_host_name(text);
  return name ? *name : "refused: " + name.error().message;
}

TEST(HostName, HasOneSpelling_C24) {
  EXPECT_EQ(normalised("Example.COM"), "example.com");
  EXPECT_EQ(normalised("example.com."), "example.com");
  EXPECT_EQ(normalised("my_bucket.s3.example"), "my_bucket.s3.example");
  EXPECT_EQ(normalised("r3---sn.example"), "r3---sn.example");
  EXPECT_EQ(normalised("localhost"), "localhost");
  EXPECT_EQ(normalised("B\u00dcCHER.example"), "xn--bcher-kva.example");
  EXPECT_EQ(normalised("b\u00fccher.example"), "xn--bcher-kva.example");
  EXPECT_EQ(normalised("bu\u0308cher.example"), "xn--bcher-kva.example") << "composed or not";
  EXPECT_EQ(normalised("XN--BCHER-KVA.example"), "xn--bcher-kva.example");
  EXPECT_EQ(normalised("stra\u00dfe.example"), "xn--strae-oqa.example") << "not transitional: never strasse";
  EXPECT_EQ(normalised("example\u3002com"), "example.com");
  EXPECT_EQ(normalised("example\uff0ecom"), "example.com");
  EXPECT_EQ(normalised("example\uff61com"), "example.com");
  EXPECT_EQ(normalised("\uff45\uff58ample.com"), "example.com") << "full-width letters";
  EXPECT_EQ(normalised("exam\u00adple.com"), "example.com") << "a soft hyphen is nothing";
  EXPECT_EQ(normalised("\u212aelvin.example"), "kelvin.example") << "the Kelvin sign is a k";
}

TEST(HostName, RefusesWhatCouldBeReadInTwoWays_C24) {
  for (const std::string& text : {""s,
                                  "."s,
                                  "a..b"s,
                                  ".a"s,
                                  "a.."s,
                                  "a b"s,
                                  "a\0b"s,
                                  "evil.com\0.example"s,
                                  "a\nb"s,
                                  "a\x7f"s,
                                  "user@host"s,
                                  "a:80"s,
                                  "a/b"s,
                                  "a\\b"s,
                                  "a%2eb"s,
                                  "a,b"s,
                                  "*.a"s,
                                  "-a.example"s,
                                  "a-.example"s,
                                  "\xff.example"s,
                                  "\xc0\xae.example"s,
                                  std::string(64, 'a'),
                                  std::string(300, 'a'),
                                  "xn--.example"s,
                                  "xn--a.example"s,
                                  "xn--bcher-kva1.example"s,
                                  "xn--example-.com"s,
                                  "xn--strasse-.example"s,
                                  "a\u2044b.example"s,
                                  "\u2100.example"s,
                                  "\U0001F4A9.example"s,
                                  "\u202eabc.example"s,
                                  "a\u200d.example"s}) {
    EXPECT_FALSE(normalise_host_name(text).has_value()) << printable(text) << " became " << normalised(text);
  }
  std::string longest;
  while (longest.size() + 2 <= kLongestHostName) longest += "a.";
  longest += "b";
  ASSERT_EQ(longest.size(), kLongestHostName);
  EXPECT_EQ(normalised(longest + "."), longest);
  EXPECT_FALSE(normalise_host_name("a" + longest).has_value());
}

TEST(HostName, IsNeverAnAddressInAnySpelling_C24) {
  for (const char* text : {"127.0.0.1", "127.1", "0x7f.1", "2130706433", "[::1]", "::1", "127.0.0.1.", "fe80::1%eth0",
                           "\uff11\uff12\uff17.0.0.1", "127\u30020\uff0e0.1"}) {
    const Result<std::string> name = normalise_host_name(text);
    ASSERT_FALSE(name.has_value()) << text;
    EXPECT_THAT(name.error().message, testing::HasSubstr("an IP address, not a name")) << text;
    EXPECT_THAT(name.error().hint, testing::HasSubstr("NAME:PORT=ADDR:PORT"));
    ASSERT_NE(name.error().as<InvalidRequest>(), nullptr);
    EXPECT_EQ(name.error().as<InvalidRequest>()->field, "host name");
  }
  for (const char* text : {"1.2.3.4.5", "a.1", "host.0x7f", "256.256.256.256", "09", "0x", "a.0x."}) {
    EXPECT_FALSE(normalise_host_name(text).has_value()) << text;
  }
  EXPECT_EQ(normalised("1password.example"), "1password.example");
  EXPECT_EQ(normalised("0x7f.example"), "0x7f.example");
}

// Labels of one script each (mixtures are mostly refused), between dots of several kinds; sometimes a foreign
// character.
std::string any_host_text() {
  static const std::vector<std::vector<std::string>> kScripts = {
      {"a", "B", "z", "1", "0", "x", "-", "_"},
      {"a", "\u00fc", "\u00dc", "\u00df", "u\u0308", "\u1e9e", "\u212a", "\u00ad", "\uff41", "\u0130"},
      {"\u4f8b", "\u3042", "a", "1"},
      {"\u0430", "\u0416", "\u03c2", "\u03a3"},
      {"\u05d0", "\u05d1", "\u0661"},
      {"xn--bcher-kva", "xn--", "bcher-kva", "XN--strae-oqa"}};
  static const std::vector<std::string> kDots = {".", ".", "\u3002", "\uff0e", "\uff61"};
  std::string text;
  for (int labels = *rc::gen::inRange(1, 4); labels > 0; --labels) {
    if (!text.empty()) text += *rc::gen::elementOf(kDots);
    const auto& script = *rc::gen::elementOf(kScripts);
    for (int letters = *rc::gen::inRange(1, 5); letters > 0; --letters) text += *rc::gen::elementOf(script);
  }
  static const std::vector<std::string> kStrangers = {"\u200d", "%", "@", "\u0905", "\u0308"};
  return *rc::gen::inRange(0, 8) == 0 ? text + *rc::gen::elementOf(kStrangers) : text;
}

RC_GTEST_PROP(HostName, NormalisingTwiceChangesNothing, ()) {
  const std::string text = any_host_text();
  const Result<std::string> once = normalise_host_name(text);
  RC_CLASSIFY(once.has_value());
  if (!once) return;
  RC_ASSERT(normalise_host_name(*once).has_value());
  RC_ASSERT(*normalise_host_name(*once) == *once);
  RC_ASSERT(*normalise_host_name(*once + ".") == *once);
}

RC_GTEST_PROP(HostName, AnyBytesAreANameInItsAlphabetOrOneErrorLine, (const std::string& bytes)) {
  const Result<std::string> name = normalise_host_name(bytes);
  if (name) {
    RC_ASSERT(name->find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.") == std::string::npos);
    RC_ASSERT(name->size() <= kLongestHostName);
    RC_ASSERT(!parse_ip_address(*name).has_value());
  } else {
    RC_ASSERT(name.error().message.find('\n') == std::string::npos);
  }
}

RC_GTEST_PROP(HostName, UpperCaseAndATrailingDotMakeNoDifference, ()) {
  const auto name = *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::elementOf("abcxyz09-."s)));
  const Result<std::string> plain = normalise_host_name(name);
  std::string upper = name;
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z' && *rc::gen::arbitrary<bool>()) c = static_cast<char>(c - 'a' + 'A');
  }
  const Result<std::string> other = normalise_host_name(upper);
  RC_ASSERT(plain.has_value() == other.has_value());
  if (plain) RC_ASSERT(*plain == *other);
}

}  // namespace
}  // namespace sallyport
