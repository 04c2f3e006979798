#include "core/egress/egress_rules.h"

#include <algorithm>

namespace sallyport {

EgressRules::EgressRules(std::vector<HostRule> rules) : rules_(std::move(rules)) {
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const HostRuleFields& rule = rules_[i].fields();
    PortMap& ports = (rule.any_subdomain ? suffix_ : exact_)[rule.name];
    // A rule that names the port is more specific than one without ports; otherwise the first rule counts.
    if (rule.port) {
      const auto [place, is_new] =
          ports.try_emplace(*rule.port, RuleMatch{.rule = i, .check = ConnectionCheck::kByAddress});
      if (!is_new && place->second.check != ConnectionCheck::kByAddress) {
        place->second = {.rule = i, .check = ConnectionCheck::kByAddress};
      }
      continue;
    }
    ports.try_emplace(kTlsPort, RuleMatch{.rule = i, .check = ConnectionCheck::kTls});
    ports.try_emplace(kHttpPort, RuleMatch{.rule = i, .check = ConnectionCheck::kHttp});
  }
}

// Calls `visit(ports)` for each rule set that covers the name, the closest first, until it returns true.
template <class Visit>
bool EgressRules::visit_closest(std::string_view name, const Visit& visit) const {
  if (const auto found = exact_.find(name); found != exact_.end() && visit(found->second)) return true;
  if (suffix_.empty()) return false;
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    name.remove_prefix(dot + 1);
    if (const auto found = suffix_.find(name); found != suffix_.end() && visit(found->second)) return true;
  }
  return false;
}

bool EgressRules::allows_name(std::string_view name) const {
  return visit_closest(name, [](const PortMap&) { return true; });
}

std::optional<RuleMatch> EgressRules::find(std::string_view name, std::uint16_t port) const {
  std::optional<RuleMatch> match;
  visit_closest(name, [&](const PortMap& ports) {
    const auto found = ports.find(port);
    if (found != ports.end()) match = found->second;
    return match.has_value();
  });
  return match;
}

std::vector<std::uint16_t> EgressRules::ports() const {
  std::vector<std::uint16_t> all;
  for (const auto* rules : {&exact_, &suffix_}) {
    for (const auto& [name, ports] : *rules) {
      for (const auto& [port, match] : ports) all.push_back(port);
    }
  }
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  return all;
}

}  // namespace sallyport
