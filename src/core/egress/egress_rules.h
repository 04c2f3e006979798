// The rules of one run, prepared for lookup. The cost of a lookup does not depend on the number of rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/egress/name_hash.h"
#include "sallyport/egress.h"

namespace sallyport {

inline constexpr std::uint16_t kTlsPort = 443;
inline constexpr std::uint16_t kHttpPort = 80;

// How a connection to an allowed host and port is checked.
enum class ConnectionCheck {
  kTls,       // default port 443: a ClientHello whose SNI is the name, nothing else
  kHttp,      // default port 80: HTTP/1 requests whose Host is the name, nothing else
  kByAddress  // a port that the rule names: checks TLS and HTTP if used, lets anything else pass
};

struct RuleMatch {
  std::size_t rule = 0;  // index into rules()
  ConnectionCheck check = ConnectionCheck::kTls;
};

class EgressRules {
 public:
  EgressRules() = default;
  explicit EgressRules(std::vector<HostRule> rules);

  [[nodiscard]] bool empty() const { return rules_.empty(); }
  [[nodiscard]] const std::vector<HostRule>& rules() const { return rules_; }
  // `name` must be normalised. Prefers an exact rule to a suffix rule, a longer suffix to a shorter one, and for the
  // same name a rule that names the port to one that does not.
  [[nodiscard]] bool allows_name(std::string_view name) const;
  [[nodiscard]] std::optional<RuleMatch> find(std::string_view name, std::uint16_t port) const;
  // Every port some rule allows, sorted, without repetition.
  [[nodiscard]] std::vector<std::uint16_t> ports() const;
  // How many names of a run can get addresses where each address costs something: all exactly named ones, plus
  // kMostBelow for suffix rules.
  static constexpr std::size_t kMostBelow = 64;
  [[nodiscard]] std::size_t countable_names() const {
    return exact_.size() + (suffix_.empty() ? std::size_t{0} : kMostBelow);
  }

 private:
  using PortMap = std::unordered_map<std::uint16_t, RuleMatch>;
  using NameMap = std::unordered_map<std::string, PortMap, NameHash, std::equal_to<>>;

  template <class Visit>
  bool visit_closest(std::string_view name, const Visit& visit) const;

  std::vector<HostRule> rules_{};
  NameMap exact_{};
  NameMap suffix_{};
};

}  // namespace sallyport
