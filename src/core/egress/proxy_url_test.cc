#include <gtest/gtest.h>

#include "sallyport/egress.h"

namespace sallyport {
namespace {

Result<UpstreamProxy> proxy_at(std::string url) { return UpstreamProxy::of({.url = std::move(url)}); }

TEST(ProxyUrl, IsReadWithItsParts) {
  const Result<UpstreamProxy> proxy = proxy_at("http://some%40one:p%3ass@Proxy.Test:3128/");
  ASSERT_TRUE(proxy) << proxy.error().message;
  EXPECT_EQ(proxy->host(), "proxy.test");
  EXPECT_EQ(proxy->port(), 3128);
  EXPECT_EQ(proxy->credentials(), "some@one:p:ss");
  EXPECT_EQ(proxy_text(*proxy), "http://proxy.test:3128") << "no credentials";
}

TEST(ProxyUrl, MayBeShort) {
  EXPECT_EQ(proxy_at("proxy.test:8080")->port(), 8080);
  EXPECT_EQ(proxy_at("http://proxy.test")->port(), 80);
  EXPECT_EQ(proxy_text(*proxy_at("http://[::1]:3128")), "http://[::1]:3128");
  EXPECT_EQ(proxy_text(*proxy_at("https://proxy.test")), "https://proxy.test:443");
  EXPECT_TRUE(proxy_at("https://proxy.test:3128")->tls());
  EXPECT_FALSE(proxy_at("proxy.test:8080")->tls());
  EXPECT_EQ(proxy_text(*proxy_at("10.0.0.1:3128")), "http://10.0.0.1:3128");
}

TEST(ProxyUrl, ThatNobodyCanMeanIsRefusedWithoutItsPassword) {
  for (const char* url : {"", "socks5://proxy.test", "http://", "http://secret:word@", "http://proxy.test:0",
                          "http://proxy.test:65536", "http://proxy.test:x", "http://secret%0d%0aX: y@proxy.test:1",
                          "http://secret%4@proxy.test:1", "http://secret@pro xy.test:1", "http://a!secret/more@proxy:1",
                          "me:secret://ter2@x.test:1", "http://[secret]:1"}) {
    const Result<UpstreamProxy> proxy = proxy_at(url);
    ASSERT_FALSE(proxy) << url;
    EXPECT_EQ(proxy.error().message.find("secret"), std::string::npos) << proxy.error().message;
  }
}

TEST(ProxyUrl, TheHostsReachedWithoutItAreThoseOfNoProxy) {
  const Result<UpstreamProxy> proxy =
      UpstreamProxy::of({.url = "http://proxy.test:3128", .without = " A.test, .b.test ,,*"});
  ASSERT_TRUE(proxy) << proxy.error().message;
  EXPECT_EQ(proxy->without(), (std::vector<std::string>{"a.test", "b.test", "*"}));
  EXPECT_EQ(proxy_at("http://proxy.test:3128")->without(), std::vector<std::string>());
}

}  // namespace
}  // namespace sallyport
