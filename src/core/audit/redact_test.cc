#include "core/audit/redact.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace sallyport::audit {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view kSecret = "hunter2-Zq81xW";

std::string all(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += word + "\n";
  return text;
}

// Each way to put a secret into a command. $ is the secret.
const std::vector<Words> kCommands = {
    {"git", "clone", "https://user:$@host.example/r.git"},
    {"git", "clone", "https://$@host.example/r.git"},
    {"git", "clone", "https://user:p@$@host.example/r"},
    {"git", "clone", "https://a\\$@host.example/r"},
    {"git", "clone", "https://user:a\\$@host.example/r"},
    {"git", "clone", "https://a#$@host.example/r"},
    {"git", "clone", "https://a?$@host.example/r"},
    {"git", "-c", "http.extraHeader=Authorization: Bearer $", "fetch"},
    {"npm", "install", "--password", "$"},
    {"npm", "install", "--password=$"},
    {"npm", "--_authToken", "$"},
    {"npm", "--//host.example/:_authToken=$"},
    {"docker", "run", "-e", "API_TOKEN=$", "image"},
    {"docker", "run", "-eGITHUB_TOKEN=$"},
    {"docker", "login", "-u", "me", "-p", "$"},
    {"curl", "-u", "me:$", "https://host.example"},
    {"curl", "-ume:$"},
    {"curl", "--user", "me:$"},
    {"curl", "-H", "Authorization: Basic $"},
    {"curl", "-H", "X-Api-Key: $"},
    {"curl", "-H", "Cookie: a=$; b=2"},
    {"curl", "--header=Private-Token: $"},
    {"curl", "https://host.example/?a=1&access_token=$&b=2"},
    {"curl", "https://host.example/#token=$"},
    {"node", "-e", "{\"password\": \"$\"}"},
    {"tool", "--secret-key", "$"},
    {"tool", "--client-secret=$"},
    {"tool", "--password", "--$"},
    {"tool", "PASSWORD=two words and $"},
    {"tool", "user:$@host:22"},
    {"docker", "login", "-p$", "-u", "me"},
    {"mysql", "-u", "root", "-p$", "db"},
    {"sshpass", "-p", "$", "ssh", "host"},
    {"redis-cli", "-a", "$"},
    {"curl", "--user=me:$"},
    {"curl", "-Ume:$"},
    {"curl", "-H", "Ocp-Apim-Subscription-Key: $"},
    {"curl", "-H", "X-Auth: $"},
    {"curl", "https://host.example/o?X-Amz-Signature=$&x=1"},
    {"docker", "run", "-e", "MYSQL_PWD=$", "image"},
    {"docker", "run", "--env=DB_PASS=two words $", "image"},
    {"docker", "build", "--build-arg=GITHUB_PAT=$", "."},
    {"tool", "SSHPASS=$"},
    {"tool", "STRIPE_KEY=$"},
    {"keytool", "-storepass", "$"},
    {"tool", "--passw", "$"},
    {"tool", "--toke", "$"},
    {"npm", "config", "set", "//host.example/:_authToken", "$"},
    {"aws", "configure", "set", "aws_secret_access_key", "$"},
    {"node", "-e", "<server><password>$</password></server>"},
    {"rg", "-----BEGIN OPENSSH PRIVATE KEY-----\n$\n-----END OPENSSH PRIVATE KEY-----"},
};

Words with_secret(const Words& command, std::string_view secret) {
  Words words;
  for (std::string word : command) {
    if (const std::size_t at = word.find('$'); at != std::string::npos) word.replace(at, 1, secret);
    words.push_back(word);
  }
  return words;
}

TEST(Redaction, TakesASecretOutOfEveryPlaceItIsKnownToStand_C33) {
  for (const Words& command : kCommands) {
    const Words words = with_secret(command, kSecret);
    ASSERT_NE(all(words).find(kSecret), std::string::npos);  // the control: the secret is there before
    const RedactedArgv redacted = redact_argv(words);
    EXPECT_EQ(all(redacted.argv).find(kSecret), std::string::npos) << all(redacted.argv);
    EXPECT_NE(all(redacted.argv).find(kRedacted), std::string::npos);
    EXPECT_EQ(redacted.argv.size(), words.size());
    EXPECT_EQ(redacted.count, 1U) << all(redacted.argv);
    // A message that quotes the command does not reveal it either.
    EXPECT_EQ(redact_text("refused argument '" + words.back() + "'", redacted.secrets).find(kSecret),
              std::string::npos);
  }
}

TEST(Redaction, KnowsKeysByTheirShapeWhereverTheyStand_C33) {
  // Assembled here, so that no scanner takes this file for a leak.
  const std::string tail = "abcdefghij0123456789ABCDEFGHIJ012345";
  for (const std::string& key :
       {"ghp_" + tail, "github_pat_" + tail, "glpat-" + tail, "npm_" + tail, "xoxb-" + tail,
        "AKIA" + std::string("IOSFODNN7EXAMPLE"), "AIza" + tail, "sk-" + tail, "sk_live_" + tail,
        "eyJ" + tail + "." + tail, "hf_" + tail, "hvs." + tail, "ATATT3" + tail, "xoxc-" + tail, "gsk_" + tail,
        "glptt-" + tail, "hooks.slack.com/services/T0/B0/" + tail}) {
    for (const std::string& text :
         {key, "x " + key, "--flag=" + key, "path/" + key + "/y", "(" + key + ")", "a%3D" + key}) {
      EXPECT_EQ(redact_text(text).find(key), std::string::npos) << text;
    }
  }
}

// What people look for in a log must still be there.
TEST(Redaction, LeavesEverydayCommandsAlone) {
  const std::vector<Words> everyday = {
      {"git", "log", "--oneline", "-n", "5", "HEAD~3..HEAD"},
      {"git", "clone", "git@host.example:org/repo.git"},
      {"git", "clone", "https://host.example/org/repo.git"},
      {"git", "rev-parse", "0123456789abcdef0123456789abcdef01234567"},
      {"rg", "-n", "TODO|FIXME", "src"},
      {"npm", "install", "alias@npm:left-pad@1.3.0", "--package-lock-only"},
      {"docker", "run", "-p", "8080:80", "-v", "/a:/b:ro", "image@sha256:" + std::string(64, 'a')},
      {"node", "--test", "a.test.js"},
      {"jq", ".a.b[0]", "file.json"},
      {"semgrep", "--config", "rules.yml", "--metrics=off"},
      {"sh", "-c", "echo 12:30 && date"},
      {"sort", "--sort-key", "name", "--bypass", "cache", "--tok", "--pas"},
      {"git", "config", "user.name", "Somebody Else"},
      {"mysql", "-u", "root", "db"},
      {"docker", "run", "-u", "1000", "image"},
  };
  for (const Words& command : everyday) EXPECT_EQ(redact_argv(command).argv, command) << all(command);
}

TEST(Redaction, TakesAShapeOutOfABinaryWord) {
  const std::string word = std::string("\xff\xfe token=", 9) + std::string(kSecret);
  EXPECT_EQ(redact_argv(Words{"tool", word}).argv[1].find(kSecret), std::string::npos);
}

RC_GTEST_PROP(RedactionProperty, IsIdempotentWhateverTheBytes, ()) {
  const auto text = *rc::gen::arbitrary<std::string>();
  const std::string once = redact_text(text);
  RC_ASSERT(redact_text(once) == once);
}

RC_GTEST_PROP(RedactionProperty, NeverLetsASecretThroughInAKnownPlace_C33, ()) {
  const auto secret = *rc::gen::container<std::string>(
      *rc::gen::inRange(6, 40),
      rc::gen::elementOf(std::string("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~+")));
  const auto which = *rc::gen::inRange<std::size_t>(0, kCommands.size());
  const Words words = with_secret(kCommands[which], secret);
  // Only when the text around the secret does not contain it anyway.
  RC_PRE(all(kCommands[which]).find(secret) == std::string::npos &&
         std::string(kRedacted).find(secret) == std::string::npos);
  RC_ASSERT(all(redact_argv(words).argv).find(secret) == std::string::npos);
}

}  // namespace
}  // namespace sallyport::audit
