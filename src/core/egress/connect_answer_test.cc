#include "core/egress/connect_answer.h"

#include <gtest/gtest.h>

#include <string>

namespace sallyport {
namespace {

using Kind = ConnectAnswer::Kind;

TEST(ConnectAnswer, OpensATunnelAndLeavesTheHostsBytesBehindIt) {
  for (const char* first :
       {"HTTP/1.1 200 Connection established", "HTTP/1.0 200 OK", "HTTP/1.1 200", "HTTP/1.1 204 "}) {
    const std::string head = std::string(first) + "\r\nVia: x\r\nContent-Length: 5\r\n\r\n";
    const ConnectAnswer answer = parse_connect_answer(head + "SSH-2.0\r\n\r\n");
    EXPECT_EQ(answer.kind, Kind::kOpen) << first;
    EXPECT_EQ(answer.size, head.size()) << first;
    for (std::size_t size = 0; size < head.size(); ++size) {
      EXPECT_EQ(parse_connect_answer(std::string_view(head).substr(0, size)).kind, Kind::kNeedMore) << size;
    }
  }
}

TEST(ConnectAnswer, NothingElseOpensOne) {
  const auto why = [](const std::string& bytes) {
    const ConnectAnswer answer = parse_connect_answer(bytes);
    EXPECT_EQ(answer.kind, Kind::kRefused) << bytes;
    EXPECT_EQ(answer.size, 0U);
    return answer.why;
  };
  EXPECT_EQ(why("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"), "the proxy wants a user and a password (407)");
  EXPECT_EQ(why("HTTP/1.1 403 Forbidden\r\n\r\n"), "the proxy refuses it (403)");
  EXPECT_EQ(why("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"), "the proxy refuses it (100)");
  for (const char* bytes :
       {"HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 20\r\n\r\n", "HTTP/1.1  200\r\n\r\n", "HTTP/1.1 -20 x\r\n\r\n",
        "HTTP/1.2 200 OK\r\n\r\n", "HTTP/1.\r\n\r\n", "HTTP/2 200\r\n\r\n", "\r\n\r\n"}) {
    EXPECT_EQ(why(bytes), "the proxy does not answer in HTTP") << bytes;
  }
  EXPECT_EQ(why("\x15\x03\x03"), "the proxy does not answer in HTTP") << "a TLS alert is no reason to wait for more";
  EXPECT_EQ(why("HTTP/1.1 200 OK\r\nX: " + std::string(kLargestConnectAnswer, 'y') + "\r\n\r\n"),
            "the proxy's answer is too long");
}

}  // namespace
}  // namespace sallyport
