#include "gate/jail_set.h"

#include <gtest/gtest.h>

#include <string>

namespace sallyport {
namespace {

class NamedJail final : public Jail {
 public:
  explicit NamedJail(std::string name, Confinement confinement = Confinement::kJailed)
      : name_(std::move(name)), confinement_(confinement) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] Confinement confinement() const override { return confinement_; }
  [[nodiscard]] Result<std::unique_ptr<StagedRun>> stage(const StageRequest&) override {
    return fail({.detail = SystemError{}, .message = "never asked", .hint = {}});
  }

 private:
  const std::string name_;
  const Confinement confinement_;
};

std::string refused_field(const Result<JailSet>& set) {
  if (set) return "";
  const auto* request = set.error().as<InvalidRequest>();
  return request == nullptr ? "other" : request->field;
}

TEST(JailSet, GivesTheOneThatWasNamedAndForAutoItsOrder) {
  NamedJail first("first");
  NamedJail second("second");
  const Result<JailSet> set = JailSet::of({&first, &second}, std::array{JailKind("second"), JailKind("first")});
  ASSERT_TRUE(set) << set.error().message;
  const auto named = set->candidates(JailKind("first"));
  ASSERT_TRUE(named);
  ASSERT_EQ(named->size(), 1U);
  EXPECT_EQ(named->front(), &first);
  const auto any = set->candidates(JailKind::kAuto);
  ASSERT_TRUE(any);
  ASSERT_EQ(any->size(), 2U);
  EXPECT_EQ((*any)[0], &second);
  EXPECT_EQ((*any)[1], &first);
}

TEST(JailSet, OffersEveryJailOnceAndFirstThoseThatAutoTries) {
  NamedJail none("none", Confinement::kNone);
  NamedJail first("first");
  NamedJail second("second");
  const JailSet set = JailSet::of({&none, &first, &second}, std::array{JailKind("second")}).value();
  const std::vector<JailOffer> offers = set.offers();
  ASSERT_EQ(offers.size(), 3U);
  EXPECT_EQ(offers[0].kind, JailKind("second"));
  EXPECT_EQ(offers[1].kind, JailKind("none"));
  EXPECT_EQ(offers[1].confinement, Confinement::kNone);
  EXPECT_EQ(offers[2].kind, JailKind("first"));
  EXPECT_FALSE(offers[2].starts_slowly);
}

TEST(JailSet, RefusesAnUnknownNameWithAHint) {
  NamedJail native("native");
  const JailSet set = JailSet::of({&native}, {}).value();
  const auto wrong = set.candidates(JailKind("natve"));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().as<InvalidRequest>()->field, "jail");
  EXPECT_NE(wrong.error().hint.find("native"), std::string::npos);
  const auto escapes = set.candidates(JailKind("\x1b[2J"));
  ASSERT_FALSE(escapes);
  EXPECT_EQ(escapes.error().message.find('\x1b'), std::string::npos);
  EXPECT_FALSE(set.candidates(JailKind::kAuto)) << "an empty order never falls to any jail";
}

// A receipt names the jail, so no jail may pass for another.
TEST(JailSet, RefusesNamesThatAreTakenOrCannotBeChosen) {
  NamedJail one("one");
  NamedJail same("one");
  EXPECT_EQ(refused_field(JailSet::of({&one, &same}, {})), "own_jails");
  for (const char* name : {"", "auto", "Upper", "with space", "a-name-that-is-longer-than-any-name-may-be"}) {
    NamedJail odd(name);
    EXPECT_EQ(refused_field(JailSet::of({&odd}, {})), "own_jails") << name;
  }
  EXPECT_EQ(refused_field(JailSet::of({nullptr}, {})), "own_jails");
  EXPECT_EQ(refused_field(JailSet::of({&one}, {})), "");
}

// No order may make "auto" run without a jail.
TEST(JailSet, RefusesAnOrderWithNoConfinementOrUnknownNames) {
  NamedJail open("open", Confinement::kNone);
  EXPECT_EQ(refused_field(JailSet::of({&open}, std::array{JailKind("open")})), "auto_jails");
  EXPECT_EQ(refused_field(JailSet::of({&open}, std::array{JailKind("absent")})), "auto_jails");
}

TEST(JailKind, IsItsNameAndALongOneIsNoOther) {
  EXPECT_EQ(JailKind("native"), JailKind::kNative);
  EXPECT_NE(JailKind("nativ"), JailKind::kNative);
  const std::string longest(JailKind::kLongest, 'x');
  EXPECT_EQ(JailKind(longest).name(), longest);
  EXPECT_NE(JailKind(longest + "y"), JailKind(longest));
}

}  // namespace
}  // namespace sallyport
