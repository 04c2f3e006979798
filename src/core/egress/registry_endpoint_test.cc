#include "core/egress/registry_endpoint.h"

#include <gmock/gmock.h>

#include "core/bytes/base64.h"
#include "core/egress/registry_answer.h"

namespace sallyport {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kToken = "npm_0123456789abcdef";

RegistryEndpoint endpoint_at(std::string url, std::string authorization = "Bearer npm_0123456789abcdef") {
  const Result<RegistryCredentials> credentials = RegistryCredentials::of(std::move(url), std::move(authorization));
  EXPECT_TRUE(credentials) << credentials.error().message;
  return credentials ? registry_endpoint(*credentials) : RegistryEndpoint();
}

std::string request(std::string_view method, std::string_view target, std::string_view fields = "") {
  return std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: registry.test\r\n" +
         std::string(fields) + "\r\n";
}

TEST(RegistryEndpoint, IsPlainHttpAtTheRegistrysOwnName) {
  EXPECT_EQ(endpoint_at("https://Registry.test").url(), "http://registry.test/");
  EXPECT_EQ(endpoint_at("https://registry.test:443/npm").url(), "http://registry.test/npm/");
  EXPECT_EQ(endpoint_at("https://registry.test:8443/npm/").url(), "http://registry.test:8443/npm/");
  EXPECT_EQ(endpoint_at("http://registry.test:4873/").url(), "http://registry.test:4873/");
  EXPECT_EQ(endpoint_at("https://registry.test/").registry_origin(), "https://registry.test");
  EXPECT_EQ(endpoint_at("https://registry.test/").registry_port, 443);
  EXPECT_EQ(endpoint_at("https://registry.test:8443/").registry_origin(), "https://registry.test:8443");
}

TEST(RegistryEndpoint, RefusesCredentialsThatCannotBeSentOrKept) {
  for (const char* authorization : {"", "Bearer", "Bearer short", "Digest 0123456789", "Bearer 01234567\r\nX: y",
                                    "Bearer 0123 45678", "Bearer 0123456\x7f"}) {
    const auto refused = RegistryCredentials::of("https://registry.test/", authorization);
    ASSERT_FALSE(refused) << authorization;
    EXPECT_THAT(refused.error().message, Not(HasSubstr("01234567")));
  }
  EXPECT_FALSE(RegistryCredentials::of("https://registry.test/a/../b/", "Bearer 0123456789"));
  EXPECT_TRUE(RegistryCredentials::of("https://registry.test/b/", "Bearer 0123456789")) << "positive control";
}

TEST(RegistryEndpoint, KnowsTheSpellingsOfItsSecret) {
  using ::testing::Contains;
  const RegistryEndpoint basic = endpoint_at("https://registry.test/", "Basic bWU6b3Blbi1zZXNhbWU=");
  EXPECT_THAT(basic.secrets, Contains("bWU6b3Blbi1zZXNhbWU="));
  EXPECT_TRUE(SecretSearch(basic.secrets).holds("x=bWU6b3Blbi1zZXNhbWU%3D&"));
  EXPECT_FALSE(SecretSearch(basic.secrets).holds("x=bWU6b3Blbi1%3D&"));
  EXPECT_THAT(basic.secrets, Contains("me:open-sesame"));
  EXPECT_THAT(basic.secrets, Contains("open-sesame"));
}

TEST(RegistryRequest, CarriesTheCredentialsAndLittleElse) {
  const RegistryEndpoint endpoint = endpoint_at("https://registry.test/npm/");
  const RegistryRequest sent = registry_request(
      request(
          "GET", "/npm/@s%2fn?x=1",
          "Authorization: Bearer other\r\nCookie: a=b\r\nRange: bytes=0-1\r\nAccept: */*\r\nAccept-Encoding: gzip\r\n"
          "npm-command: ci\r\nX-HTTP-Method-Override: PUT\r\nConnection: keep-alive\r\n"),
      endpoint);
  EXPECT_EQ(sent.why, "");
  EXPECT_EQ(sent.head,
            "GET /npm/@s%2fn?x=1 HTTP/1.1\r\nHost: registry.test\r\nAuthorization: Bearer npm_0123456789abcdef\r\n"
            "Accept-Encoding: identity\r\nConnection: close\r\nAccept: */*\r\nnpm-command: ci\r\n\r\n");
  EXPECT_TRUE(registry_request(request("HEAD", "/npm/x"), endpoint).is_head);
}

TEST(RegistryRequest, IsRefusedOutsideWhatAnInstallReads) {
  const RegistryEndpoint endpoint = endpoint_at("https://registry.test/npm/");
  for (const char* target : {"/",
                             "/npm",
                             "/other/x",
                             "/npmx/y",
                             "/npm/../other",
                             "/npm/%2e%2e/other",
                             "/npm/.%2e/x",
                             "/npm//x",
                             "/npm/a%2f..%2fb",
                             "/npm/%252e%252e/x",
                             "/npm/a%00",
                             "/npm/a%0d%0ab",
                             "/npm/a\\b",
                             "/npm/a;b",
                             "/npm/%5c..",
                             "/npm/a#b",
                             "/npm/%zz",
                             "/npm/-/whoami",
                             "/npm/-/npm/v1/tokens",
                             "/npm/%2d/whoami",
                             "/npm/-",
                             "/npm/-/npm/v1/user",
                             "/npm/-/user/token/abc",
                             "/npm/_session",
                             "/npm/%5fusers/_all_docs",
                             "/npm/.git/config",
                             "http://registry.test/npm/x",
                             "*"}) {
    EXPECT_NE(registry_request(request("GET", target), endpoint).why, "") << target;
  }
  for (const char* method : {"PUT", "POST", "DELETE", "PATCH", "OPTIONS", "TRACE"}) {
    EXPECT_NE(registry_request(request(method, "/npm/x"), endpoint).why, "") << method;
  }
  for (const char* target : {"/npm/x", "/npm/", "/npm/@s/n", "/npm/x/-/x-1.0.0.tgz", "/npm/-/ping",
                             "/npm/-/npm/v1/keys", "/npm/-/npm/v1/attestations/x@1.0.0"}) {
    EXPECT_EQ(registry_request(request("GET", target), endpoint).why, "") << target;
  }
}

struct Passed {
  RegistryAnswer::State state{};
  std::string out{};
  std::string why{};
};

Passed pass(std::string_view answer, std::size_t piece, bool to_head = false,
            const std::string& url = "https://registry.test/") {
  const RegistryEndpoint endpoint = endpoint_at(url);
  RegistryAnswer reader(endpoint, to_head);
  Passed passed;
  while (!answer.empty()) {
    passed.state = reader.feed(answer.substr(0, piece), passed.out);
    passed.why = reader.why();
    if (passed.state != RegistryAnswer::State::kMore) return passed;
    answer.remove_prefix(std::min(piece, answer.size()));
  }
  passed.state = reader.end(passed.out);
  passed.why = reader.why();
  return passed;
}

TEST(RegistryAnswer, PassesABodyHoweverItIsFramedAndCut) {
  constexpr std::string_view kHead = "HTTP/1.1 200 registry\r\nConnection: close\r\n";
  for (const std::size_t piece : {1U, 3U, 7U, 1000U}) {
    EXPECT_EQ(pass("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Y: z\r\n\r\nhello", piece).out,
              std::string(kHead) + "Content-Length: 5\r\n\r\nhello");
    EXPECT_EQ(
        pass("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nT: t\r\n\r\n", piece)
            .out,
        std::string(kHead) + "\r\nhello");
    EXPECT_EQ(pass("HTTP/1.0 200 OK\r\n\r\nhello", piece).out, std::string(kHead) + "\r\nhello");
    EXPECT_EQ(pass("HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n", piece).out,
              "HTTP/1.1 304 registry\r\nConnection: close\r\nETag: \"a\"\r\n\r\n");
    EXPECT_EQ(pass("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", piece, true).state, RegistryAnswer::State::kDone);
  }
}

TEST(RegistryAnswer, NeverPassesTheSecret) {
  const std::string body = "before " + std::string(kToken) + " after";
  const std::string length = std::to_string(body.size());
  for (std::size_t piece = 1; piece < 200; ++piece) {
    for (const std::string& head : {"Content-Length: " + length + "\r\n\r\n", std::string("\r\n")}) {
      const Passed passed = pass("HTTP/1.1 200 OK\r\n" + head + body, piece);
      EXPECT_EQ(passed.state, RegistryAnswer::State::kSecret);
      EXPECT_THAT(passed.out, Not(HasSubstr("npm_0")));
    }
    std::string chunks;
    for (const char c : body) chunks += std::string("1\r\n") + c + "\r\n";
    EXPECT_THAT(pass("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n", piece).out,
                Not(HasSubstr("npm_0")));
  }
  const Passed fields = pass(
      "HTTP/1.1 200 npm_0123456789abcdef\r\nETag: npm_0123456789abcdef\r\nLocation: http://x.test/?"
      "npm_0123456789abcdef\r\nSet-Cookie: a=b\r\nVary: c\r\nContent-Length: 0\r\n\r\n",
      1000);
  EXPECT_EQ(fields.out, "HTTP/1.1 200 registry\r\nConnection: close\r\nVary: c\r\nContent-Length: 0\r\n\r\n");
}

// A debug page, a JSON error, a log line: harmless programs write the secret in such spellings.
TEST(RegistryAnswer, NeverPassesTheSecretInAnotherSpelling) {
  const RegistryEndpoint endpoint = endpoint_at("https://registry.test/", "Bearer npm/tok+en=0123456789abcdef");
  for (const std::string& spelled :
       {std::string("npm/tok+en=0123456789abcdef"), std::string("NPM/TOK+EN=0123456789ABCDEF"),
        std::string("npm%2ftok%2Ben%3d0123456789abcdef"), std::string("npm%252Ftok%252Ben%253D0123456789abcdef"),
        std::string("%6e%70%6d/tok+en=0123456789abcdef"), std::string("npm\\/tok+en=0123456789abcdef"),
        std::string("npm\\u002ftok\\u002Ben\\x3d0123456789abcdef"),
        std::string("npm&#47;tok&#x2B;en&equals;0123456789abcdef"), base64("Bearer npm/tok+en=0123456789abcdef"),
        base64("{\"t\":\"npm/tok+en=0123456789abcdef\"}"),
        std::string("6e706d2f746f6b2b656e3d30313233343536373839616263646566")}) {
    const std::string answer = "HTTP/1.1 200 OK\r\nETag: " + spelled + "\r\n\r\n<p>" + spelled + "</p>";
    for (std::size_t piece = 1; piece < answer.size() + 2; piece += piece < 8 ? 1 : 37) {
      RegistryAnswer reader(endpoint, false);
      std::string out;
      RegistryAnswer::State state = RegistryAnswer::State::kMore;
      for (std::size_t at = 0; at < answer.size() && state == RegistryAnswer::State::kMore; at += piece) {
        state = reader.feed(std::string_view(answer).substr(at, piece), out);
      }
      EXPECT_EQ(state, RegistryAnswer::State::kSecret) << spelled << ' ' << piece;
      EXPECT_THAT(out, Not(HasSubstr("ETag"))) << spelled;
      EXPECT_TRUE(out.ends_with("<p>") || out.size() < 120) << out;
    }
  }
  // Text that only looks like the start of a secret passes unchanged, also at the end of the body.
  const std::string near = "npm%2 npm\\ &am npm%2ftok+e %25 npm/tok+en=0123456789abcde";
  RegistryAnswer reader(endpoint, false);
  std::string out;
  EXPECT_EQ(reader.feed("HTTP/1.1 200 OK\r\n\r\n" + near, out), RegistryAnswer::State::kMore);
  EXPECT_EQ(reader.end(out), RegistryAnswer::State::kDone);
  EXPECT_TRUE(out.ends_with(near)) << out;
}

TEST(RegistryAnswer, SendsARedirectBackToTheEndpointAndLeavesOthers) {
  const auto location = [](std::string_view to, const std::string& registry) {
    return pass("HTTP/1.1 302 Found\r\nLocation: " + std::string(to) + "\r\nContent-Length: 0\r\n\r\n", 1000, false,
                registry)
        .out;
  };
  EXPECT_THAT(location("https://registry.test/npm/x", "https://registry.test/npm/"),
              HasSubstr("\r\nLocation: http://registry.test/npm/x\r\n"));
  EXPECT_THAT(location("https://registry.test.evil.test/x", "https://registry.test/"),
              HasSubstr("\r\nLocation: https://registry.test.evil.test/x\r\n"));
  EXPECT_THAT(location("/relative", "https://registry.test/"), HasSubstr("\r\nLocation: /relative\r\n"));
}

TEST(RegistryAnswer, IsBrokenWhereItHasTwoReadingsOrEndsEarly) {
  for (const char* answer :
       {"", "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "SSH-2.0-x\r\n\r\n", "HTTP/1.1 101 Switching\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nx", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "HTTP/1.1 200 OK\r\n folded: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n"}) {
    for (const std::size_t piece : {1U, 1000U}) {
      const Passed passed = pass(answer, piece);
      EXPECT_EQ(passed.state, RegistryAnswer::State::kBroken) << answer;
      EXPECT_NE(passed.why, "") << answer;
    }
  }
  EXPECT_EQ(pass("HTTP/1.1 200 OK\r\nX: " + std::string(70000, 'y') + "\r\n\r\n", 4096).state,
            RegistryAnswer::State::kBroken);
}

}  // namespace
}  // namespace sallyport
