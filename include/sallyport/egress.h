// Which hosts a run may reach. An empty list is no network at all (C24).
//
//   Result<HostRule> rule = parse_host_rule("registry.test:4873=127.0.0.1:4873");
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

struct HostRule {
  std::string name{};                  // normalised; for a suffix rule without the leading "*."
  bool any_subdomain = false;          // "*.name": every name below it, not the name itself
  std::vector<std::uint16_t> ports{};  // empty: 443 (TLS only) and 80 (HTTP only)
  std::optional<HostTarget> target{};
  std::optional<ByteCount> max_up{};  // per run, summed over the rule's connections
  std::optional<ByteCount> max_down{};
  // The name may resolve to an address of a private network or of this machine; never to a metadata service.
  bool may_be_private = false;
  bool operator==(const HostRule&) const = default;
};

// HOST[:PORT][=ADDR:PORT][,up=SIZE][,down=SIZE][,private], as on the command line and in policy files.
[[nodiscard]] Result<HostRule> parse_host_rule(std::string_view text);
// The same text again: what to write to allow this. A rule with several ports takes one text for each, with a space
// between them.
[[nodiscard]] std::string host_rule_text(const HostRule& rule);

}  // namespace sallyport
