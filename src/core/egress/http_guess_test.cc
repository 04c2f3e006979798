#include "core/egress/http_guess.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <string>

namespace sallyport {
namespace {

using namespace std::string_literals;

std::span<const std::uint8_t> octets_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

HttpGuess guess_of(std::string_view text) { return looks_like_http(octets_of(text)); }

HttpGuess guess_at_end(std::string_view text) {
  HttpGuesser guesser;
  static_cast<void>(guesser.feed(octets_of(text)));
  return guesser.at_end();
}

TEST(HttpGuess, KnowsHttpHoweverSloppy_C24) {
  for (const std::string& text : {"GET / HTTP/1.1\r\n"s, "GET /"s, "\r\n\r\nGET /"s, " POST /x"s, "get /x http/1.1\n"s,
                                  "FOO\tbar\tHTTP/1.1\n"s, "PRI * HTTP/2.0\r\n"s, "GET x\r\n"s, "GET http://a/"s,
                                  "CONNECT a:1 HTTP/1.1"s, "FOO HTTP/1.1"s, std::string(99, 'A') + " / HTTP/1.1",
                                  std::string(99, '\n') + "GET /", "PROXY TCP4 192.0.2.1"s, "\r\n\r\n\0\r\nQUIT\n!"s}) {
    EXPECT_EQ(guess_of(text), HttpGuess::kYes) << text;
  }
}

TEST(HttpGuess, TakesEverythingForABlankThatSomeServerDoes_C24) {
  for (const std::string& blank : {"\v"s, "\f"s, "\t"s, "\r"s, "\0"s, "\x1c"s, "\x1f"s, "\x7f"s, "\x85"s, "\xa0"s,
                                   "\xc2\xa0"s, "\xe2\x80\x83"s, "\xe3\x80\x80"s, " \v \f"s}) {
    EXPECT_EQ(guess_of("GET" + blank + "/ HTTP/1.1\r\n"), HttpGuess::kYes) << blank;
    EXPECT_EQ(guess_of("GET" + blank + "/"), HttpGuess::kYes) << blank;
    EXPECT_EQ(guess_of("FOO /" + blank + "HTTP/1.1\r\n"), HttpGuess::kYes) << blank;
    EXPECT_EQ(guess_of(blank + "FOO / HTTP/1.1\r\n"), HttpGuess::kYes) << blank;
  }
  EXPECT_EQ(guess_of("\xef\xbb\xbfGET / HTTP/1.1\r\n"), HttpGuess::kYes) << "a byte order mark";
  EXPECT_EQ(guess_of("FOO /\x01\x02 HTTP/1.1\r\n"), HttpGuess::kYes) << "control bytes end no line";
  EXPECT_EQ(guess_of("FOO x\rBAR / HTTP/1.1"), HttpGuess::kYes) << "nor does a lone CR";
}

TEST(HttpGuess, HasNoLimitForALine_C24) {
  const std::string path(100'000, 'x');
  EXPECT_EQ(guess_of("FOO /" + path), HttpGuess::kMaybe);
  EXPECT_EQ(guess_of("FOO /" + path + " HTTP/1.1"), HttpGuess::kYes);
  EXPECT_EQ(guess_of(std::string(100'000, '\n') + "FOO / HTTP/1.1"), HttpGuess::kYes);
}

TEST(HttpGuess, LeavesOtherProtocolsAlone) {
  for (const std::string& text : {"SSH-2.0-OpenSSH_9.2\r\n"s, "EHLO me\r\n"s, "*1\r\n$4\r\nPING\r\n"s, "get key\r\n"s,
                                  "GET\r\n"s, "{\"a\":\"GET / HTTP/1.1\"}\n"s, "<34>1 GET / HTTP/1.1 200\n"s,
                                  "CONNECT {\"name\":\"an HTTP/2 client\"}\r\n"s, "QUIT\n"s, "\r\nQUIT\n"s}) {
    EXPECT_EQ(guess_of(text), HttpGuess::kNo) << text;
  }
  for (const std::string& text : {""s, "G"s, "GET"s, "GET "s, "\r\n"s, "FOO bar"s, "\0"s, "\x01\x02"s, "{\"a\":1}"s,
                                  "003egit-upload-pack /x\0host=a"s, "CONNECT {"s}) {
    EXPECT_EQ(guess_of(text), HttpGuess::kMaybe) << text;
    EXPECT_EQ(guess_at_end(text), HttpGuess::kNo) << text;
  }
}

// A server that accepts any bytes as a method reads to the line's end.
TEST(HttpGuess, OfALineThatNoMethodBeginsGoesByItsEnd_C24) {
  for (const std::string& text :
       {"(GET / HTTP/1.1\r\n"s, "{X / HTTP/1.1\n"s, "CONNECT {} HTTP/1.1\r\n"s, "CONNECT {\rX / HTTP/1.1\rHost: b"s}) {
    EXPECT_EQ(guess_of(text), HttpGuess::kYes) << text;
  }
  EXPECT_EQ(guess_at_end("(GET / HTTP/1.1"), HttpGuess::kYes) << "an end may be taken for a line's";
}

RC_GTEST_PROP(HttpGuess, IsTheSameForAnySplit, ()) {
  const auto alphabet = "GETFOO/ \t\r\n\0\v{}http/1.1HTTP\xa0(:\x01"s;
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(alphabet));
  HttpGuesser guesser;
  HttpGuess piecewise = HttpGuess::kMaybe;
  for (const char c : text) piecewise = guesser.feed(octets_of({&c, 1}));
  RC_CLASSIFY(piecewise == HttpGuess::kYes);
  RC_ASSERT(piecewise == guess_of(text));
}

}  // namespace
}  // namespace sallyport
