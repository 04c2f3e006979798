#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/validate/integrity.h"
#include "jobs/validate/lock_findings.h"
#include "jobs/validate/lockfile.h"
#include "jobs/validate/min_age.h"
#include "jobs/validate/signatures.h"
#include "jobs/validate/url.h"

namespace sallyport::jobs {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Sixty-four zero bytes.
const std::string kZeroes =
    "sha512-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==";

std::string lock3(const std::string& entries, const std::string& root = R"("dependencies": {"a": "^1.0.0"})") {
  return "{\n  \"lockfileVersion\": 3,\n  \"packages\": {\n    \"\": {" + root + "},\n" + entries + "\n  }\n}\n";
}
std::string entry(const std::string& path, const std::string& fields) {
  return "    \"" + path + "\": {\n      \"version\": \"1.0.0\", " + fields + "\n    }";
}
const std::string kSound = R"("resolved": "https://registry.test/a/-/a-1.0.0.tgz", "integrity": ")" + kZeroes + "\"";

std::vector<std::string> rules_in(const std::string& lock_text,
                                  const std::string& manifest_text = R"({"dependencies": {"a": "^1.0.0"}})") {
  const auto lock = parse_lockfile(lock_text);
  const auto manifest = parse_manifest(manifest_text);
  if (!lock || !manifest) return {lock ? manifest.error() : lock.error()};
  std::vector<std::string> rules;
  for (const Finding& finding : check_lock({.lock = &*lock,
                                            .manifest = &*manifest,
                                            .lock_path = "package-lock.json",
                                            .lock_text = lock_text,
                                            .registry = {.is_https = true, .host = "registry.test", .port = 443},
                                            .known_hosts = {"mirror.test:8443"}})) {
    rules.push_back(finding.rule);
  }
  return rules;
}

TEST(Lockfile, ReadsVersionThree) {
  const auto lock = parse_lockfile(lock3(
      entry("node_modules/a", kSound + R"(, "hasInstallScript": true, "bundleDependencies": ["@s/b"],
        "bin": {"a": "x.js", "b": "y.js"})") +
      ",\n" + entry("node_modules/a/node_modules/@s/b", R"("inBundle": true)") + ",\n" +
      entry("node_modules/w", R"("resolved": "packages/w", "link": true)") + ",\n" + entry("packages/w", R"("x": 1)")));
  ASSERT_TRUE(lock.has_value()) << lock.error();
  EXPECT_EQ(lock->version, 3U);
  ASSERT_EQ(lock->packages.size(), 4U);
  EXPECT_EQ(lock->packages[0].name, "a");
  EXPECT_TRUE(lock->packages[0].has_install_script);
  EXPECT_THAT(lock->packages[0].programs, ElementsAre("a", "b"));
  EXPECT_EQ(lock->packages[1].name, "@s/b");
  EXPECT_EQ(lock->wanted.dependencies.at("a"), "^1.0.0");
  std::vector<bool> fetched;
  for (const LockedPackage& package : lock->packages) fetched.push_back(is_fetched(package));
  EXPECT_THAT(fetched, ElementsAre(true, false, false, false));
}

TEST(Lockfile, ReadsVersionOneWithItsNestingAndSources) {
  const auto lock = parse_lockfile(R"({"lockfileVersion": 1, "dependencies": {
    "a": {"version": "1.0.0", "resolved": "https://registry.test/a.tgz", "integrity": "sha1-x",
          "dependencies": {"b": {"version": "git+ssh://git@host.test/b.git#abc"}}},
    "c": {"version": "2.0.0", "dependencies": {"d": {"version": "1.0.0", "bundled": true}}}}})");
  ASSERT_TRUE(lock.has_value()) << lock.error();
  ASSERT_EQ(lock->packages.size(), 4U);
  EXPECT_EQ(lock->packages[1].path, "node_modules/a/node_modules/b");
  EXPECT_EQ(lock->packages[1].resolved, "git+ssh://git@host.test/b.git#abc");
  EXPECT_FALSE(lock->packages[2].in_bundle);
  EXPECT_TRUE(lock->packages[3].in_bundle);
}

TEST(Lockfile, RefusesWhatItDoesNotKnow) {
  for (const char* text :
       {"", "[]", "{}", R"({"lockfileVersion": 4, "packages": {}})", R"({"lockfileVersion": 3})",
        R"({"lockfileVersion": "3", "packages": {}})", R"({"lockfileVersion": 3, "packages": {"a": 1}})",
        R"({"lockfileVersion": 1, "dependencies": {"a": []}})", R"({"lockfileVersion": 3,)"}) {
    EXPECT_FALSE(parse_lockfile(text).has_value()) << text;
  }
  std::string deep = R"({"lockfileVersion": 1, "dependencies": )";
  for (int i = 0; i < 1000; ++i) deep += R"({"a": {"dependencies": )";
  EXPECT_FALSE(parse_lockfile(deep).has_value());
}

TEST(Manifest, ReadsScriptsWorkspacesAndWishes) {
  const auto manifest = parse_manifest(
      "\xEF\xBB\xBF"
      R"({"name": "x", "packageManager": "pnpm@9.0.0",
    "scripts": {"test": "node t.js", "pretest": "true"}, "workspaces": {"packages": ["p/*"]},
    "dependencies": {"a": "1"}, "optionalDependencies": {"a": "2"}, "devDependencies": {"b": 3}})");
  ASSERT_TRUE(manifest.has_value()) << manifest.error();
  EXPECT_EQ(manifest->package_manager, "pnpm@9.0.0");
  EXPECT_THAT(manifest->scripts, ElementsAre("pretest", "test"));
  EXPECT_THAT(manifest->workspaces, ElementsAre("p/*"));
  EXPECT_EQ(manifest->wanted.dependencies.at("a"), "2");
  EXPECT_EQ(manifest->wanted.dev.count("b"), 1U);
  EXPECT_FALSE(parse_manifest("[]").has_value());
  EXPECT_FALSE(parse_manifest("{").has_value());
}

TEST(LockFindings, AreNoneForASoundLockFile) {
  EXPECT_THAT(rules_in(lock3(entry("node_modules/a", kSound))), IsEmpty());
  // A registry's URLs may be left out of the lock file; the hash may not.
  EXPECT_THAT(rules_in(lock3(entry("node_modules/a", R"("integrity": ")" + kZeroes + "\""))), IsEmpty());
  const std::string mirror =
      R"("resolved": "https://mirror.test:8443/a/-/a-1.0.0.tgz", "integrity": ")" + kZeroes + "\"";
  EXPECT_THAT(rules_in(lock3(entry("node_modules/a", mirror))), IsEmpty());
}

TEST(LockFindings, NameEveryOtherSource) {
  const auto with = [](const std::string& resolved, const std::string& integrity = kZeroes) {
    return rules_in(
        lock3(entry("node_modules/a", R"("resolved": ")" + resolved + R"(", "integrity": ")" + integrity + "\"")));
  };
  for (const char* url :
       {"https://elsewhere.test/a.tgz", "https://registry.test:444/a.tgz", "https://registry.test@evil.test/a",
        "https://registry.test.evil.test/a", "https://registry.test\\\\@evil.test/", "https://[::1]/a.tgz",
        "https://mirror.test/a.tgz", "ftp:x"}) {
    EXPECT_THAT(with(url), ElementsAre("lock-foreign-host")) << url;
  }
  EXPECT_THAT(with("https://REGISTRY.test/a/-/a-1.0.0.tgz"), IsEmpty());
  EXPECT_THAT(with("http://registry.test:443/npm/a/-/a-1.0.0.tgz"), ElementsAre("lock-plain-http"));
  for (const char* git :
       {"git+ssh://git@h.test/x.git#1", "git://h.test/x", "github:u/r", "https://h.test/x.git", "u/r"}) {
    EXPECT_THAT(with(git), ElementsAre("lock-git-source")) << git;
  }
  EXPECT_THAT(with("file:../../x.tgz"), ElementsAre("lock-leaves-repo"));
  EXPECT_THAT(with("file:///etc/x.tgz"), ElementsAre("lock-leaves-repo"));
  EXPECT_THAT(with("file:x.tgz"), IsEmpty());
  EXPECT_THAT(with("https://registry.test/a/-/a-1.0.0.tgz", ""), ElementsAre("lock-missing-integrity"));
  EXPECT_THAT(with("https://registry.test/download/a/1.0.0/ab12", "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="),
              ElementsAre("lock-weak-integrity"));
}

TEST(LockFindings, NameScriptsProgramsAndPathsThatLeave) {
  EXPECT_THAT(rules_in(lock3(entry("node_modules/a", kSound + R"(, "hasInstallScript": true)"))),
              ElementsAre("lock-install-script"));
  EXPECT_THAT(rules_in(lock3(entry("node_modules/a", kSound + R"(, "bin": {"node": "x.js"})"))),
              ElementsAre("lock-shadows-program"));
  EXPECT_THAT(rules_in(lock3(entry("node_modules/a", kSound) + ",\n" + entry("node_modules/../../../x", kSound))),
              Contains("lock-leaves-repo"));
  EXPECT_THAT(rules_in(lock3(entry("node_modules/a", kSound) + ",\n" +
                             entry("node_modules/w", R"("resolved": "../../w", "link": true)"))),
              Contains("lock-leaves-repo"));
}

// npm obeys `packages` wherever it stands, and older ones the other list.
TEST(LockFindings, AreThoseOfBothListsWhateverTheNumberSays) {
  const std::string evil = R"("resolved": "https://evil.test/a.tgz", "integrity": ")" + kZeroes + "\"";
  const std::string sound = R"("dependencies": {"a": {"version": "1.0.0", )" + kSound + "}}";
  const std::string root = R"("": {"dependencies": {"a": "^1.0.0"}}, )";
  for (const char* version : {"1", "2", "3"}) {
    const std::string start = R"({"lockfileVersion": )" + std::string(version) + ", ";
    EXPECT_THAT(rules_in(start + sound + R"(, "packages": {)" + root + entry("node_modules/a", evil) + "}}"),
                Contains("lock-foreign-host"))
        << version;
    EXPECT_THAT(rules_in(start + R"("dependencies": {"a": {"version": "1.0.0", )" + evil + R"(}}, "packages": {)" +
                         root + entry("node_modules/a", kSound) + "}}"),
                ElementsAre("lock-foreign-host"))
        << version;
    EXPECT_THAT(rules_in(start + sound + R"(, "packages": {)" + root + entry("node_modules/a", kSound) + "}}"),
                IsEmpty())
        << version;
  }
  EXPECT_FALSE(parse_lockfile(R"({"lockfileVersion": 1, "packages": [], "dependencies": {}})").has_value());
}

TEST(LockFindings, BelieveABundleOnlyWhereOneIs) {
  const std::string evil = R"("inBundle": true, "resolved": "https://evil.test/a.tgz")";
  EXPECT_THAT(rules_in(lock3(entry("node_modules/a", evil))), Contains("lock-foreign-host"));
  EXPECT_THAT(rules_in(lock3(entry("node_modules/a", R"("inBundle": true)"))), ElementsAre("lock-missing-integrity"));
  const std::string nested = ",\n" + entry("node_modules/a/node_modules/b", R"("inBundle": true)");
  EXPECT_THAT(rules_in(lock3(entry("node_modules/a", kSound) + nested)), ElementsAre("lock-missing-integrity"));
  EXPECT_THAT(rules_in(lock3(entry("node_modules/a", kSound + R"(, "bundleDependencies": ["b"])") + nested)),
              IsEmpty());
}

TEST(LockFindings, NameAPackageUnderAnothersName) {
  const auto from = [](const std::string& url, const std::string& more = "") {
    return rules_in(lock3(entry("node_modules/a", R"("resolved": "https://registry.test)" + url +
                                                      R"(", "integrity": ")" + kZeroes + "\"" + more)));
  };
  for (const char* url :
       {"/evil/-/evil-1.0.0.tgz", "/@evil/a/-/a-1.0.0.tgz", "/a/-/a-0.9.0.tgz", "/a/../evil/-/a-1.0.0.tgz",
        "/evil/-/evil-1.0.0.tgz?/a/-/a-1.0.0.tgz", "/%61/-/a-1.0.0.tgz", "/a/-/%2e%2e/x.tgz"}) {
    EXPECT_THAT(from(url), ElementsAre("lock-other-package")) << url;
  }
  EXPECT_THAT(from("/api/npm/a/-/a-1.0.0.tgz"), IsEmpty());
  EXPECT_THAT(from("/b/-/b-1.0.0.tgz", R"(, "name": "b")"), ElementsAre("lock-other-package"));
  const std::string alias = R"("dependencies": {"a": "npm:b@^1.0.0"})";
  const std::string b =
      R"("name": "b", "resolved": "https://registry.test/b/-/b-1.0.0.tgz", "integrity": ")" + kZeroes + "\"";
  EXPECT_THAT(rules_in(lock3(entry("node_modules/a", b), alias), "{" + alias + "}"), IsEmpty());
  EXPECT_THAT(rules_in(lock3(entry("node_modules/a", kSound + R"(, "hasShrinkwrap": true)"))),
              ElementsAre("lock-own-lock"));
  EXPECT_THAT(rules_in(lock3(entry("node_modules/a", kSound + R"(, "bin": {"make.cmd": "x.js"})"))),
              ElementsAre("lock-shadows-program"));
}

TEST(LockFindings, CompareTheLockFileWithPackageJson) {
  const std::string lock = lock3(entry("node_modules/a", kSound));
  EXPECT_THAT(rules_in(lock, R"({"dependencies": {"a": "^2.0.0"}})"), ElementsAre("lock-mismatch"));
  EXPECT_THAT(rules_in(lock, R"({"dependencies": {"a": "^1.0.0", "b": "1", "c": "1"}})"),
              ElementsAre("lock-mismatch", "lock-mismatch"));
  EXPECT_THAT(rules_in(lock, "{}"), ElementsAre("lock-mismatch"));
  EXPECT_THAT(rules_in(lock, R"({"devDependencies": {"a": "^1.0.0"}})"), ElementsAre("lock-mismatch", "lock-mismatch"));
  EXPECT_THAT(rules_in(R"({"lockfileVersion": 1, "dependencies": {}})"), ElementsAre("lock-mismatch"));
  EXPECT_THAT(rules_in(lock3(entry("node_modules/a", kSound), R"("dependencies": {"a": "u/r"})"),
                       R"({"dependencies": {"a": "u/r"}})"),
              ElementsAre("lock-git-source"));
}

TEST(LockFindings, StandOnTheLineOfTheirPackage) {
  const std::string text = lock3(entry("node_modules/a", R"("resolved": "https://elsewhere.test/a.tgz")"));
  const auto lock = parse_lockfile(text);
  const auto manifest = parse_manifest(R"({"dependencies": {"a": "^1.0.0"}})");
  const std::vector<Finding> findings = check_lock(
      {.lock = &*lock, .manifest = &*manifest, .lock_path = "package-lock.json", .lock_text = text, .registry = {}});
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].place.line, 5U);
  EXPECT_EQ(findings[0].severity, Severity::kHigh);
}

TEST(Integrity, GivesTheOneSha512) {
  EXPECT_EQ(sha512_of(kZeroes), std::string(128, '0'));
  EXPECT_EQ(sha512_of("sha1-abc " + kZeroes + "?x"), std::string(128, '0'));
  EXPECT_EQ(sha512_of(kZeroes + " " + kZeroes), std::string(128, '0'));
  const std::string other = "sha512-AQ" + kZeroes.substr(9);
  for (const std::string& text : {std::string(), std::string("sha1-abc"), std::string("sha512-AAAA"),
                                  std::string("sha512-!!!!"), kZeroes + " " + other}) {
    EXPECT_EQ(sha512_of(text), std::nullopt) << text;
  }
  EXPECT_EQ(content_path("abcdef"), "content-v2/sha512/ab/cd/ef");
}

TEST(WebPlace, IsTheSameForEverySpellingOfOneHostAndNothingForOddOnes) {
  EXPECT_EQ(place_text(*web_place("HTTPS://Host.Test/x")), "host.test");
  EXPECT_EQ(place_text(*web_place("https://host.test:443?x")), "host.test");
  EXPECT_EQ(place_text(*web_place("http://host.test:4873")), "host.test:4873");
  for (const char* url : {"", "host.test", "ftp://h/", "https://", "https://u@h/", "https://h:0/", "https://h:99999/",
                          "https://h:/", "https://h x/", "https://h\\x/", "https://[::1]/", "//h/"}) {
    EXPECT_FALSE(web_place(url).has_value()) << url;
  }
}

TEST(SourceOf, DistinguishesRangesFromSources) {
  for (const char* range :
       {"^1.0.0", "~1.2", "latest", "1.x || >=2", "npm:real@^1", "*", ">=1.0.0 <2", "workspace:*"}) {
    EXPECT_EQ(source_of(range), SourceKind::kRegistry) << range;
  }
  EXPECT_EQ(source_of("user/repo#main"), SourceKind::kGit);
  EXPECT_EQ(source_of("HTTPS://h/x.tgz"), SourceKind::kUrl);
  EXPECT_EQ(source_of("../x"), SourceKind::kLocal);
}

TEST(MinAge, ReadsTheTimesOfARegistry) {
  const auto times = parse_times(R"({"created": "2020-01-01T00:00:00.000Z", "1.0.0": "2024-02-29T12:30:01.5Z",
                                     "1.0.1": "yesterday", "1.0.2": 5, "1.0.3": "2023-02-29T00:00:00Z"})");
  ASSERT_TRUE(times.has_value());
  EXPECT_EQ(times->size(), 2U);
  EXPECT_EQ(time_text(times->at("1.0.0")), "2024-02-29T12:30:01Z");
  EXPECT_FALSE(parse_times("[]").has_value());
  for (const char* text : {"", "2024-01-01", "2024-01-01T00:00:00", "2024-13-01T00:00:00Z", "2024-01-01T24:00:00Z",
                           "2024-01-01T00:00:00+01:00", "2024-01-01T00:00:00.Z1", "-024-01-01T00:00:00Z"}) {
    EXPECT_FALSE(parse_time(text).has_value()) << text;
  }
}

TEST(MinAge, TakesAnUnknownTimeForTooYoung) {
  const auto lock = parse_lockfile(lock3(entry("node_modules/a", kSound) + ",\n" + entry("node_modules/b", kSound) +
                                         ",\n" + entry("node_modules/c", kSound)));
  EXPECT_THAT(names_to_ask(*lock), ElementsAre("a", "b", "c"));
  const std::map<std::string, VersionTimes> times = {{"a", {{"1.0.0", *parse_time("2024-01-01T00:00:00Z")}}},
                                                     {"b", {{"1.0.0", *parse_time("2024-01-03T00:00:00Z")}}}};
  std::vector<std::string> messages;
  for (const Finding& finding : too_young(*lock, "package-lock.json", times, *parse_time("2024-01-02T00:00:00Z"))) {
    messages.push_back(finding.message);
  }
  EXPECT_THAT(messages, UnorderedElementsAre("b@1.0.0: published 2024-01-03T00:00:00Z",
                                             "c@1.0.0: its date of publication is unknown"));
}

TEST(Signatures, AreCheckedOnlyWhenNpmSaysBothLists) {
  const auto report = parse_signatures(R"({"invalid": [{"name": "a", "version": "1"}], "missing": []})");
  ASSERT_TRUE(report.has_value());
  EXPECT_THAT(report->invalid, ElementsAre("a@1"));
  EXPECT_EQ(parse_signatures(R"({"error": {"summary": "no keys"}})").error(), "no keys");
  for (const char* text : {"", "{}", "[]", R"({"invalid": []})", R"({"invalid": {}, "missing": []})"}) {
    EXPECT_FALSE(parse_signatures(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace sallyport::jobs
