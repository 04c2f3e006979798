#include "core/egress/http_requests.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <vector>

#include "core/egress/http_guess.h"

namespace sallyport {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;
using StepKind = HttpRequests::Step::Kind;

std::span<const std::uint8_t> span_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// What a caller sees of a stream: hosts, the bytes it would pass on, and how it ended.
struct Seen {
  std::vector<std::string> hosts{};
  std::string passed{};
  std::string why{};
  bool between = false;
  bool operator==(const Seen&) const = default;
};

// Feeds the text in pieces of the given sizes (the last one again and again), as a caller would.
Seen feed(std::string_view text, std::span<const std::size_t> sizes) {
  HttpRequests requests;
  Seen seen;
  for (std::size_t piece = 0; !text.empty() && seen.why.empty(); ++piece) {
    std::string_view now = text.substr(0, sizes[std::min(piece, sizes.size() - 1)]);
    text.remove_prefix(now.size());
    while (true) {
      const HttpRequests::Step step = requests.next(span_of(now));
      if (step.kind == StepKind::kRefused) seen.why = text_of(step.fault);
      if (step.kind == StepKind::kHead) {
        seen.hosts.push_back(step.port == 0 ? step.host : fmt::format("{}:{}", step.host, step.port));
        seen.passed += requests.head();
      }
      if (step.kind == StepKind::kBody) seen.passed += now.substr(0, step.consumed);
      now.remove_prefix(step.consumed);
      if (step.consumed == 0) break;
    }
  }
  seen.between = requests.between_requests();
  return seen;
}

Seen feed(std::string_view text) { return feed(text, std::array<std::size_t, 1>{1U << 20}); }

std::string why_refused(std::string_view text) {
  const Seen seen = feed(text);
  return seen.why.empty() ? "accepted" : seen.why;
}

std::string get_request(std::string_view fields) {
  return fmt::format("GET / HTTP/1.1\r\nHost: a.test\r\n{}\r\n", fields);
}
std::string post_request(std::string_view fields, std::string_view body = "") {
  return fmt::format("POST /x HTTP/1.1\r\nHost: a.test\r\n{}\r\n{}", fields, body);
}

TEST(HttpRequests, ShowsEveryRequestsHostOnOneConnection_C24) {
  const std::string stream =
      "GET / HTTP/1.1\r\nHost: a.test\r\nAccept: */*\r\n\r\n"
      "POST /up HTTP/1.1\r\nhost:B.test:8080\r\nContent-Length: 5\r\n\r\nhello"
      "PUT /c HTTP/1.1\r\nHost: [::1]:80\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;x=\"y\"\r\nhello\r\n000A\r\n0123456789\r\n0\r\nChecksum: 1\r\n\r\n"
      "GET /last HTTP/1.0\r\nHOST: \t d.test \r\n\r\n";
  const Seen seen = feed(stream);
  EXPECT_EQ(seen.why, "");
  EXPECT_THAT(seen.hosts, testing::ElementsAre("a.test", "B.test:8080", "[::1]:80", "d.test"));
  EXPECT_EQ(seen.passed, stream) << "byte for byte";
  EXPECT_TRUE(seen.between);
}

TEST(HttpRequests, HoldsAHeadBackUntilItIsWholeAndChecked_C24) {
  const std::string head = get_request("");
  for (std::size_t size = 0; size < head.size(); ++size) {
    const Seen seen = feed(head.substr(0, size));
    EXPECT_EQ(seen.passed, "") << size;
    EXPECT_EQ(seen.why, "");
    EXPECT_EQ(seen.between, size == 0);
  }
}

TEST(HttpRequests, AcceptsAnAbsoluteTargetThatAgreesWithHostOnly_C24) {
  const auto absolute = [](std::string_view target, std::string_view host) {
    return why_refused(fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", target, host));
  };
  EXPECT_EQ(absolute("http://a.test/x?y", "a.test"), "accepted");
  EXPECT_EQ(absolute("HTTP://A.test:80", "a.TEST"), "accepted");
  EXPECT_EQ(absolute("http://evil.test/", "a.test"), "two hosts");
  EXPECT_EQ(absolute("http://a.test:81/", "a.test"), "two hosts");
  EXPECT_EQ(absolute("http://me@a.test/", "a.test"), "malformed host");
  EXPECT_EQ(absolute("http://evil.test\\@a.test/", "a.test"), "two hosts");
  EXPECT_EQ(absolute("http:///x", "a.test"), "malformed host");
  EXPECT_EQ(absolute("https://a.test/", "a.test"), "malformed request line");
  EXPECT_EQ(absolute("a.test/", "a.test"), "malformed request line");
  EXPECT_EQ(absolute("*", "a.test"), "malformed request line");
  EXPECT_EQ(why_refused("OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n"), "accepted");
}

TEST(HttpRequests, RefusesWhatWouldLeaveHttp1_C24) {
  EXPECT_EQ(why_refused("CONNECT evil.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n"), "connect");
  EXPECT_EQ(why_refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "http/2");
  EXPECT_EQ(why_refused("GET / HTTP/2\r\n"), "http/2") << "before the head's end";
  EXPECT_EQ(why_refused(get_request("Connection: Upgrade\r\nUpgrade: websocket\r\n")), "upgrade");
  EXPECT_EQ(why_refused(get_request("Upgrade: h2c, websocket\r\n")), "upgrade");
  EXPECT_EQ(why_refused(get_request("Upgrade: h2c\r\nUpgrade: h2c\r\n")), "upgrade");
}

TEST(HttpRequests, LeavesAnOfferOfHttp2Out) {
  const Seen seen = feed(get_request(
      "Connection: keep-alive, Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAA\r\nUpgrade: h2c\r\nX: 1\r\n"));
  EXPECT_EQ(seen.why, "");
  EXPECT_EQ(seen.passed, "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: keep-alive\r\nX: 1\r\n\r\n");
  EXPECT_EQ(feed(get_request("Connection: Upgrade\r\nUpgrade: h2c\r\n")).passed,
            "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
}

TEST(HttpRequests, NeedsExactlyOneHostWithNothingAroundIt_C24) {
  EXPECT_EQ(why_refused("GET / HTTP/1.1\r\nA: b\r\n\r\n"), "no host");
  EXPECT_EQ(why_refused("GET / HTTP/1.0\r\n\r\n"), "no host");
  EXPECT_EQ(why_refused("GET / HTTP/1.1\r\nHost:\r\n\r\n"), "no host");
  EXPECT_EQ(why_refused(get_request("Host: a.test\r\n")), "two hosts");
  EXPECT_EQ(why_refused(get_request("hOST: evil.test\r\n")), "two hosts");
  EXPECT_EQ(why_refused(get_request("H_ost: x\r\n")), "accepted");
  for (const char* host :
       {"a.test, evil.test", "a.test evil.test", "me@a.test", "a.test/x", "a.test:", "a.test:0", "a.test:65536",
        "a.test:080", "a.test:80:80", "a%2etest", "[::1", "::1", "[]", "b\xc3\xbc.test", "a.test\tb", "[a.test]x"}) {
    EXPECT_EQ(why_refused(fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", host)), "malformed host") << host;
  }
}

TEST(HttpRequests, RefusesLengthsThatCouldBeReadInTwoWays_C24) {
  for (const char* fields :
       {"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", "Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: 1\r\nContent-Length: 1\r\n", "Content-Length: 1, 1\r\n", "Content-Length: +1\r\n",
        "Content-Length: -1\r\n", "Content-Length: 0x1\r\n", "Content-Length: 01\r\n", "Content-Length: 1 \t2\r\n",
        "Content-Length:\r\n", "Content-Length: 9223372036854775808\r\n", "Content-Length: 99999999999999999999\r\n",
        "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: Chunked\r\n", "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: \"chunked\"\r\n",
        "Transfer-Encoding:\r\n"}) {
    EXPECT_EQ(why_refused(post_request(fields)), "ambiguous length") << fields;
  }
  EXPECT_EQ(why_refused("POST / HTTP/1.0\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n"), "ambiguous length");
  EXPECT_EQ(why_refused(post_request("Content_Length: 5\r\n")), "malformed field")
      << "a CGI program reads it as the real one";
  EXPECT_EQ(why_refused(get_request("Content-Length: 5\r\n")), "body without meaning");
  EXPECT_EQ(why_refused(get_request("Transfer-Encoding: chunked\r\n")), "body without meaning");
  EXPECT_EQ(why_refused(get_request("Content-Length: 0\r\n")), "accepted");
}

TEST(HttpRequests, RefusesLinesThatLenientServersCutElsewhere_C24) {
  for (const char* fields : {"X : 1\r\n", " X: 1\r\n", "\tX: 1\r\n", "X\r\n", ": 1\r\n", "X: 1\r\n folded\r\n",
                             "X(: 1\r\n", "X: \x01\r\n", "X: \x7f\r\n"}) {
    EXPECT_EQ(why_refused(get_request(fields)), "malformed field") << fields;
  }
  EXPECT_EQ(why_refused(get_request("X: a\0b\r\n"s)), "malformed field");
  EXPECT_EQ(why_refused("GET / HTTP/1.1\nHost: a.test\n\n"), "bare cr or lf");
  EXPECT_EQ(why_refused(get_request("X: 1\rY: 2\r\n")), "bare cr or lf");
  EXPECT_EQ(why_refused(get_request("X: 1\nHost: evil.test\r\n")), "bare cr or lf");
  EXPECT_EQ(why_refused(get_request("X: 1\r\r\n")), "bare cr or lf");
  for (const char* line : {"GET / HTTP/1.1 ", "GET  / HTTP/1.1", "GET / HTTP/1.2", "GET / http/1.1", "GET /", "GET", "",
                           "GET / x HTTP/1.1", "G(T / HTTP/1.1", " GET / HTTP/1.1", "GET\t/\tHTTP/1.1", "GET  HTTP/1.1",
                           "SSH-2.0-OpenSSH_9.2"}) {
    EXPECT_EQ(why_refused(fmt::format("{}\r\nHost: a.test\r\n\r\n", line)), "malformed request line") << line;
  }
  EXPECT_EQ(why_refused("\x16\x03\x01"), "malformed field") << "TLS where HTTP was due ends at once";
}

TEST(HttpRequests, FollowsChunksAndRefusesTheirTricks_C24) {
  const auto chunked = [](std::string_view body) { return post_request("Transfer-Encoding: chunked\r\n", body); };
  const std::string next = get_request("");
  EXPECT_EQ(why_refused(chunked("0\r\n\r\n") + next), "accepted");
  EXPECT_EQ(feed(chunked("1\r\nx\r\n0\r\nA: 1\r\nB: 2\r\n\r\n") + next).hosts.size(), 2U);
  for (const char* body :
       {"\r\n", "x\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", " 1\r\n", "1 \r\n", "1 ;x\r\n", ";x\r\n",
        "8000000000000000\r\n", "10000000000000000\r\n", "1;\x01\r\n", "1\r\nxy\r\n", "1\r\nx0\r\n"}) {
    EXPECT_EQ(why_refused(chunked(body)), "malformed chunk") << body;
  }
  for (const char* body : {"1\nx", "1;a\nb\r\n", "1\rx", "1\r\nx\n", "1\r\nx\r\r", "0\r\n\n", "0\r\nA: 1\n\r\n"}) {
    EXPECT_EQ(why_refused(chunked(body)), "bare cr or lf") << body;
  }
  for (const char* body : {"0\r\nHost: b\r\n", "0\r\nContent-Length: 1\r\n", "0\r\nTransfer_Encoding: x\r\n",
                           "0\r\nA\r\n", "0\r\n A: 1\r\n", "0\r\nGET / HTTP/1.1\r\n"}) {
    EXPECT_EQ(why_refused(chunked(body)), "malformed trailer") << body;
  }
  EXPECT_EQ(why_refused(chunked("1;" + std::string(300, 'x'))), "malformed chunk") << "endless extension";
  EXPECT_EQ(why_refused(chunked("0\r\nA: " + std::string(9000, 'x'))), "malformed chunk") << "endless trailer";
  std::string many = "0\r\n";
  for (int i = 0; i < 5000; ++i) many += "A: 1\r\n";
  EXPECT_EQ(why_refused(chunked(many)), "malformed chunk") << "endless trailers";
}

TEST(HttpRequests, HoldsNoMoreThanOneHead_C24) {
  HttpRequests requests;
  std::string text = "GET / HTTP/1.1\r\nHost: a.test\r\n";
  while (text.size() < kLargestHttpHead + 100) text += "X: y\r\n";
  const HttpRequests::Step step = requests.next(span_of(text));
  EXPECT_EQ(step.kind, StepKind::kRefused);
  EXPECT_EQ(step.fault, HttpFault::kHeadTooLarge);
  EXPECT_EQ(requests.next(span_of(get_request(""))).kind, StepKind::kRefused) << "once refused, always refused";
}

TEST(HttpRequests, LetsTheCallerMoveABodyUnseen) {
  HttpRequests requests;
  ASSERT_EQ(requests.next(span_of(post_request("Content-Length: 10\r\n"))).kind, StepKind::kHead);
  EXPECT_EQ(requests.opaque_bytes(), 10U);
  requests.skip(4);
  EXPECT_EQ(requests.opaque_bytes(), 6U);
  EXPECT_FALSE(requests.between_requests());
  requests.skip(100);
  EXPECT_EQ(requests.opaque_bytes(), 0U);
  EXPECT_TRUE(requests.between_requests());
  const std::string chunked = post_request("Transfer-Encoding: chunked\r\n");
  ASSERT_EQ(requests.next(span_of(chunked)).kind, StepKind::kHead);
  EXPECT_EQ(requests.opaque_bytes(), 0U);
  ASSERT_EQ(requests.next(span_of("ff\r\n")).kind, StepKind::kBody);
  EXPECT_EQ(requests.opaque_bytes(), 255U);
  requests.skip(255);
  EXPECT_EQ(requests.next(span_of("\r\n0\r\n")).consumed, 2U);
  EXPECT_EQ(requests.next(span_of("0\r\n")).consumed, 3U);
  EXPECT_EQ(requests.next(span_of("\r\n")).consumed, 2U);
  EXPECT_TRUE(requests.between_requests());
}

// Requests, right and wrong, one after the other.
std::string any_http_stream() {
  static const std::vector<std::string> kRequests = {
      get_request(""),
      get_request("Cookie: a=b\r\n"),
      post_request("Content-Length: 3\r\n", "abc"),
      post_request("Content-Length: 0\r\n"),
      post_request("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n"),
      post_request("Transfer-Encoding: chunked\r\n", "2;a=b\r\nab\r\n1\r\nc\r\n0\r\nT: 1\r\n\r\n"),
      post_request("Transfer-Encoding: chunked\r\n", "zz\r\n"),
      post_request("Transfer-Encoding: chunked\r\n", "1\r\nxx\r\n"),
      post_request("Transfer-Encoding: chunked\r\n", "0\r\nHost: b\r\n\r\n"),
      get_request("Upgrade: h2c\r\nConnection: Upgrade\r\n"),
      get_request("Host: b\r\n"),
      "\r\n",
      "GET / HTTP/1.1\nHost: a\n\n",
      "PRI * HTTP/2.0\r\n\r\n"};
  std::string stream;
  for (int i = *rc::gen::inRange(0, 6); i > 0; --i) {
    // The first half is valid: otherwise hardly any stream would get far.
    stream += kRequests[*rc::gen::weightedOneOf<std::size_t>(
        {{8, rc::gen::inRange<std::size_t>(0, 6)}, {1, rc::gen::inRange<std::size_t>(0, kRequests.size())}})];
  }
  return stream;
}

RC_GTEST_PROP(HttpRequests, AnySplitGivesTheSameRequests, ()) {
  std::string stream = any_http_stream();
  if (!stream.empty() && *rc::gen::inRange(0, 3) == 0) {
    stream[*rc::gen::inRange<std::size_t>(0, stream.size())] = *rc::gen::elementOf("\r\n \t:;x\0a0"s);
  }
  const auto sizes =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 40)));
  const Seen whole = feed(stream);
  RC_CLASSIFY(whole.why.empty());
  RC_ASSERT(feed(stream, sizes) == whole);
  RC_ASSERT(feed(stream, std::array<std::size_t, 1>{1}) == whole);
}

RC_GTEST_PROP(HttpRequests, WhatIsAcceptedLooksLikeHttp, ()) {
  const std::string stream = any_http_stream();
  if (feed(stream).hosts.empty()) return;
  RC_ASSERT(looks_like_http(span_of(stream)) == HttpGuess::kYes);
}

}  // namespace
}  // namespace sallyport
