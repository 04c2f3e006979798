// Any text as a host rule, a host name and an address (C24): each has one spelling, which is read back as itself.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/egress/egress_rules.h"
#include "core/egress/host_name.h"
#include "core/egress/ip_address.h"
#include "fuzz/require.h"
#include "sallyport/egress.h"

namespace {

void check_error(const sallyport::Error& error) {
  require(error.as<sallyport::InvalidRequest>() != nullptr);
  require(!error.message.empty() && error.message.find('\n') == std::string::npos);
  require(!error.hint.empty());
}

void check_name(std::string_view text) {
  const auto name = sallyport::normalise_host_name(text);
  if (!name) return check_error(name.error());
  require(name->size() <= sallyport::kLongestHostName);
  require(name->find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.") == std::string::npos);
  require(!sallyport::parse_ip_address(*name).has_value());
  const auto again = sallyport::normalise_host_name(*name);
  require(again.has_value() && *again == *name);
}

void check_rule(std::string_view text) {
  const auto rule = sallyport::parse_host_rule(text);
  if (!rule) return check_error(rule.error());
  const auto again = sallyport::parse_host_rule(sallyport::host_rule_text(*rule));
  require(again.has_value() && *again == *rule);
  const sallyport::EgressRules rules({*rule});
  const sallyport::HostRuleFields& fields = rule->fields();
  const auto same = sallyport::HostRule::of(fields);
  require(same.has_value() && *same == *rule);
  require(rules.allows_name(fields.name) != fields.any_subdomain);
  require(rules.allows_name("a." + fields.name) == fields.any_subdomain);
  for (const std::uint16_t port : rules.ports()) {
    require(rules.find(fields.any_subdomain ? "a." + fields.name : fields.name, port).has_value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_name(text);
  check_rule(text);
  if (const auto address = sallyport::parse_ip_address(text)) {
    require(sallyport::parse_ip_address(sallyport::ip_address_text(*address)) == address);
    require(sallyport::name_of(sallyport::kind_of(*address)) != "unknown");
    require(!sallyport::normalise_host_name(text).has_value());
  }
  return 0;
}
