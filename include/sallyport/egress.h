// Which hosts a run may reach. An empty list is no network at all (docs/contract.md, C24).
//
//   Result<HostRule> rule = parse_host_rule("registry.test:4873=127.0.0.1:4873");
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sallyport/limits.h"
#include "sallyport/result.h"

namespace sallyport {

// Where an allowed name really lives, for private mirrors. Such a target may be private or loopback: the policy's
// author wrote it down.
struct HostTarget {
  std::string address{};  // an IP address, in its canonical spelling
  std::uint16_t port = 0;
  bool operator==(const HostTarget&) const = default;
};

// What a rule is made of. Anything can be written here; HostRule::of says whether the gate could run it.
struct HostRuleFields {
  std::string name{};                   // for a suffix rule without the leading "*."
  bool any_subdomain = false;           // "*.name": every name below it, not the name itself
  std::optional<std::uint16_t> port{};  // unset: 443 (TLS only) and 80 (HTTP only)
  std::optional<HostTarget> target{};
  std::optional<ByteCount> max_up{};  // per run, summed over the rule's connections
  std::optional<ByteCount> max_down{};
  // The name may resolve to an address of a private network or of this machine; never to a metadata service.
  bool may_be_private = false;
  bool operator==(const HostRuleFields&) const = default;
};

// One allowed host. Every value of this type is one that the gate can enforce: its name is normalised, its target an address in
// one spelling, its budgets positive. Errors: InvalidRequest("host rule").
class HostRule {
 public:
  [[nodiscard]] static Result<HostRule> of(HostRuleFields fields);

  [[nodiscard]] const HostRuleFields& fields() const { return fields_; }
  bool operator==(const HostRule&) const = default;

 private:
  explicit HostRule(HostRuleFields fields) : fields_(std::move(fields)) {}
  friend class HostRuleReader;

  HostRuleFields fields_;
};

// HOST[:PORT][=ADDR:PORT][,up=SIZE][,down=SIZE][,private], as on the command line and in policy files.
[[nodiscard]] Result<HostRule> parse_host_rule(std::string_view text);
// The same text again: what to write to allow this.
[[nodiscard]] std::string host_rule_text(const HostRule& rule);

}  // namespace sallyport
