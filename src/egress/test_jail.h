// A jail's network connected to the egress of a run, and the few calls a tool needs to use it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/egress/dns_message.h"
#include "egress/egress.h"
#include "egress/test_net.h"

namespace sallyport::test {

// Skips the tests when the host allows us no network namespace.
class NetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!enter_outside()) GTEST_SKIP() << "no network namespace can be had on this host";
  }
};

// The port for rules that name one.
inline constexpr std::uint16_t kNamedPort = 4873;

// An allowed name that leads to a server of the test. Without a port: 443 and 80, checked.
[[nodiscard]] HostRule rule_to(std::string name, std::uint16_t server, std::optional<std::uint16_t> port = {});
// An allowed name that is resolved.
[[nodiscard]] HostRule rule_for(std::string name, std::optional<std::uint16_t> port = {});

struct DnsReply {
  int rcode = -1;  // -1: no reply
  std::optional<IpAddress> address{};
  std::optional<Endpoint> from{};
  bool operator==(const DnsReply&) const = default;
};
[[nodiscard]] std::string dns_query(std::string_view name, std::uint16_t type, std::uint16_t id = 7);
[[nodiscard]] DnsReply parse_reply(std::string_view message);

// What the jail's kernel does by itself.
enum class Kernel { kRefusesAtOnce, kRedirects };

class Jail {
 public:
  explicit Jail(std::vector<HostRule> rules, EgressOptions options = {}, Kernel kernel = Kernel::kRefusesAtOnce);

  [[nodiscard]] const JailNet& net() const { return net_; }
  [[nodiscard]] EgressProxy& proxy() { return *proxy_; }
  [[nodiscard]] DnsReply ask(std::string_view name, std::uint16_t type, std::string_view server = "127.0.0.1") const;
  // Looks the name up, then connects; empty when either fails.
  [[nodiscard]] UniqueFd open(std::string_view name, std::uint16_t port, bool v6 = false) const;
  [[nodiscard]] std::vector<Denial> stop() { return proxy_->stop(); }
  // True when every port is seen: refused at once or by nft's redirect, as this kernel can.
  [[nodiscard]] bool redirects() const { return redirects_; }
  [[nodiscard]] bool refuses_at_once() const { return refuses_at_once_; }

 private:
  JailNet net_{};
  bool redirects_ = false;
  bool refuses_at_once_ = false;
  std::unique_ptr<EgressProxy> proxy_{};
};

// "host:port reason xcount" of each.
[[nodiscard]] std::vector<std::string> texts(const std::vector<Denial>& denials);

// A ClientHello with this server name (none when empty), after further extensions.
[[nodiscard]] std::string client_hello(std::string_view server_name, std::string_view extensions = {});
[[nodiscard]] std::string tls_extension(std::uint16_t type, std::string_view body);

}  // namespace sallyport::test
