// Which hosts a run may reach. An empty list is no network at all (docs/contract.md, C24).
//
//   Result<HostRule> rule = parse_host_rule("registry.test:4873=127.0.0.1:4873");
//
// HostRule, UpstreamProxy and RegistryCredentials are made by a function that checks: one that exists can be used.
// The only error is InvalidRequest; its field says what was wrong: "host rule", "via_proxy", "registry", "registry_auth".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sallyport/limits.h"
#include "sallyport/result.h"

namespace sallyport {

// The real address of an allowed name, for private mirrors. It may be private or loopback, because the policy's author
// chose it.
struct HostTarget {
  std::string address{};  // an IP address, in its canonical spelling
  std::uint16_t port = 0;
  bool operator==(const HostTarget&) const = default;
};

// Classes of addresses that are not public. A rule can admit each by its name. Metadata services, multicast and similar
// belong to no class: a name that resolves there is refused whatever its rule says. A metadata service can be a rule's target, because
// then the policy's author wrote its very address; multicast, broadcast and the unspecified address cannot.
enum class AddressClass : std::uint8_t {
  kPrivate,        // 10/8, 172.16/12, 192.168/16, fc00::/7
  kShared,         // 100.64/10: carrier-grade NAT
  kLoopback,       // 127/8, ::1
  kLinkLocal,      // 169.254/16, fe80::/10
  kSiteLocal,      // fec0::/10
  kBenchmark,      // 198.18/15: the fake addresses of VPNs and transparent gateways, too
  kDocumentation,  // 192.0.2/24, 198.51.100/24, 203.0.113/24, 2001:db8::/32, 3fff::/20
  kReserved,       // 240/4 and other reserved blocks
};
// "private", "shared", …: used in a rule's ,class=NAME and in a denial.
[[nodiscard]] std::string_view name_of(AddressClass address_class);

// The parts of a rule, unchecked; HostRule::of checks them.
struct HostRuleFields {
  std::string name{};                   // in a suffix rule, without the leading "*."
  bool any_subdomain = false;           // "*.name": every name below it, not the name itself
  std::optional<std::uint16_t> port{};  // unset: 443 (TLS only) and 80 (HTTP only)
  std::optional<HostTarget> target{};
  std::optional<ByteCount> max_up{};  // per run, the sum over the rule's connections
  std::optional<ByteCount> max_down{};
  // The name may resolve to an address of a private network or of this machine; never to a metadata service.
  bool may_be_private = false;               // the classes private, shared, loopback and site-local
  std::vector<AddressClass> also_classes{};  // and these
  bool any_class = false;                    // all of them
  bool operator==(const HostRuleFields&) const = default;
};

// One allowed host. The gate can enforce every value of this type: its name is normalised, its target has the canonical
// spelling, its budgets are positive. Errors: InvalidRequest("host rule").
class HostRule {
 public:
  [[nodiscard]] static Result<HostRule> of(HostRuleFields fields);

  [[nodiscard]] const HostRuleFields& fields() const { return fields_; }
  bool operator==(const HostRule&) const = default;

 private:
  explicit HostRule(HostRuleFields fields) : fields_(std::move(fields)) {}
  friend Result<HostRule> parse_host_rule(std::string_view text);

  HostRuleFields fields_;
};

// A proxy as the operator's environment names it. Anything can be written here; UpstreamProxy::of reads it.
struct UpstreamProxyText {
  std::string url{};  // http[s]://[USER[:PASSWORD]@]HOST[:PORT]
  std::string
      without{};  // as NO_PROXY has it, "a.test, .b.test": these names, and all below them, are reached directly
  bool operator==(const UpstreamProxyText&) const = default;
};

// The operator's HTTP proxy, through which the gate reaches allowed hosts with CONNECT. The proxy looks the names up, so
// its rules decide about addresses. A rule with a target connects directly. Errors: InvalidRequest("via_proxy"), without the URL.
class UpstreamProxy {
 public:
  [[nodiscard]] static Result<UpstreamProxy> of(const UpstreamProxyText& text);

  [[nodiscard]] const std::string& host() const { return host_; }  // a normalised name, or an IP address
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] bool tls() const { return tls_; }  // spoken to the proxy itself; its certificate must be for host()
  // "user:password", or empty; in no plan, receipt or event.
  [[nodiscard]] const std::string& credentials() const { return credentials_; }
  [[nodiscard]] const std::vector<std::string>& without() const { return without_; }
  bool operator==(const UpstreamProxy&) const = default;

 private:
  UpstreamProxy() = default;

  std::string host_;
  std::uint16_t port_ = 0;
  bool tls_ = false;
  std::string credentials_;
  std::vector<std::string> without_;
};
// Its URL without the credentials.
[[nodiscard]] std::string proxy_text(const UpstreamProxy& proxy);

// The operator's credentials at a registry. The owner adds them to an allowed tool's requests to that registry; the
// tool never sees them (docs/egress.md). Never in a plan, receipt, event or environment.
class RegistryCredentials {
 public:
  // `registry` is its URL: https, or http where the operator's own npm uses that. `authorization` is the header's value:
  // "Bearer TOKEN" or "Basic BASE64". Errors: InvalidRequest("registry"), InvalidRequest("registry_auth"), without the latter.
  [[nodiscard]] static Result<RegistryCredentials> of(std::string registry, std::string authorization);

  [[nodiscard]] const std::string& registry() const { return registry_; }
  [[nodiscard]] const std::string& authorization() const { return authorization_; }
  bool operator==(const RegistryCredentials&) const = default;

 private:
  RegistryCredentials(std::string registry, std::string authorization)
      : registry_(std::move(registry)), authorization_(std::move(authorization)) {}

  std::string registry_;
  std::string authorization_;
};

// HOST[:PORT][=ADDR:PORT][,up=SIZE][,down=SIZE][,private][,class=NAME], as on the command line and in policy files.
[[nodiscard]] Result<HostRule> parse_host_rule(std::string_view text);
// The rule as text, which parse_host_rule() accepts.
[[nodiscard]] std::string host_rule_text(const HostRule& rule);

}  // namespace sallyport
