#include "egress/denial_log.h"

#include <fmt/format.h>

#include <chrono>

#include "core/egress/egress_rules.h"
#include "core/egress/ip_address.h"
#include "core/text/printable.h"
#include "sallyport/event_name.h"

namespace sallyport {
namespace {

std::string shown(std::string_view host) {
  std::string text = printable(host.substr(0, DenialLog::kLongestHost));
  if (text.size() <= DenialLog::kLongestHost) return text;
  text.resize(DenialLog::kLongestHost);
  return printable(text);  // the cut may be inside a character
}

// A cloud's metadata service gives credentials to any client.
bool is_metadata(const std::string& host) {
  const std::optional<IpAddress> address = parse_ip_address(host);
  return address && kind_of(*address) == AddressKind::kMetadata;
}

// The rule that would allow the connection, if any.
std::string how_to_allow(const std::string& host, std::uint16_t port, DenialReason reason, AddressKind address_kind) {
  const bool usual = port == 0 || port == kTlsPort || port == kHttpPort;
  switch (reason) {
    case DenialReason::kHostNotAllowed:
      return usual ? fmt::format("`allowed_hosts` {}", host) : fmt::format("`allowed_hosts` {}:{}", host, port);
    case DenialReason::kPortNotAllowed:
    case DenialReason::kNotTls:
    case DenialReason::kNotHttp:
      return fmt::format("`allowed_hosts` {}:{}", host, port);
    case DenialReason::kAddressWithoutName:
      // A rule could allow it; a person who knows the risk can write that rule, but a hint must not suggest it.
      if (is_metadata(host)) return {};
      return fmt::format("`allowed_hosts` NAME:{0}={1}:{0}, and let the tool use NAME", port,
                         host.find(':') == std::string::npos ? host : fmt::format("[{}]", host));
    case DenialReason::kSpecialAddress:
      if (const std::optional<AddressClass> admissible = class_of(address_kind)) {
        const std::string place = usual ? host : fmt::format("{}:{}", host, port);
        return fmt::format("`allowed_hosts` {},class={}", place, name_of(*admissible));
      }
      return {};
    case DenialReason::kOwnAddress:
      return fmt::format("`allowed_hosts` {0}:{1}=ADDRESS:{1}", host, port);
    default:
      return {};
  }
}

bool is_about_host(DenialReason reason) {
  return reason == DenialReason::kHostNotAllowed || reason == DenialReason::kAddressWithoutName;
}

}  // namespace

void DenialLog::add(std::string_view host, std::uint16_t port, DenialReason reason, AddressKind address) {
  auto key = std::make_tuple(shown(host), port, reason);
  auto found = index_.find(key);
  if (found == index_.end() && denials_.size() >= kMostEntries) {
    key = {"", 0, DenialReason::kMoreDenials};
    found = index_.find(key);
  }
  if (found != index_.end()) {
    ++denials_[found->second].count;
    return;
  }
  index_.emplace(key, denials_.size());
  const auto& [name, number, why] = key;
  denials_.push_back({.host = name,
                      .port = number,
                      .reason = no_host_allowed_ && is_about_host(why) ? DenialReason::kNoHostAllowed : why,
                      .address = address,
                      .count = 1,
                      .time = std::chrono::system_clock::now(),
                      .hint = how_to_allow(name, number, why, address)});
  if (denials_.size() == 1) first_.signal();
  if (sink_ != nullptr) {
    sink_->emit({.level = EventLevel::kWarning,
                 .name = event_name::kEgressDenied,
                 .fields = {{"host", name},
                            {"port", std::to_string(number)},
                            {"reason", reason_text(denials_.back())},
                            {"hint", denials_.back().hint}}});
  }
}

}  // namespace sallyport
