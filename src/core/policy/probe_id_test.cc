#include "sallyport/probe_id.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <regex>

namespace sallyport {
namespace {

TEST(ProbeId, AcceptsLowerCaseNamesUpToSixtyFourCharacters_C12) {
  for (const std::string& name : {std::string("a"), std::string("layer_b2"), std::string(64, 'z')}) {
    const Result<ProbeId> probe = ProbeId::parse(name);
    ASSERT_TRUE(probe.has_value()) << name;
    EXPECT_EQ(probe->str(), name);
  }
}

TEST(ProbeId, RefusesEverythingElse_C12) {
  for (const std::string& name :
       {std::string(), std::string("A"), std::string("1a"), std::string("_a"), std::string("a-b"), std::string("a b"),
        std::string("../bad"), std::string("a\n"), std::string("a\0b", 3), std::string(65, 'z'), std::string("é")}) {
    const Result<ProbeId> probe = ProbeId::parse(name);
    ASSERT_FALSE(probe.has_value()) << name;
    ASSERT_NE(probe.error().as<InvalidProbeName>(), nullptr);
    EXPECT_EQ(probe.error().as<InvalidProbeName>()->probe, name);
  }
}

RC_GTEST_PROP(ProbeId, AgreesWithTheWrittenPattern_C12, ()) {
  static const std::regex pattern("^[a-z][a-z0-9_]{0,63}$");
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("abz019_A-. /")));
  RC_ASSERT(ProbeId::parse(text).has_value() == std::regex_match(text, pattern));
}

}  // namespace
}  // namespace sallyport
