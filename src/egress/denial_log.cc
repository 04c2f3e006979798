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
  return address && why_not_public(*address) == "metadata";
}

// The rule that would allow the connection, if any.
std::string how_to_allow(const std::string& host, std::uint16_t port, DenialReason reason,
                         std::string_view address_class) {
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
      if (!address_class_named(address_class)) return {};
      return fmt::format("`allowed_hosts` {}{},class={}", host, usual ? "" : fmt::format(":{}", port), address_class);
    case DenialReason::kOwnAddress:
      return fmt::format("`allowed_hosts` {0}:{1}=ADDRESS:{1}", host, port);
    default:
      return {};
  }
}

std::string text_of(DenialReason reason, std::string_view address_class) {
  const bool has_class = reason == DenialReason::kSpecialAddress && !address_class.empty();
  return has_class ? fmt::format("{} address", address_class) : std::string(denial_text(reason));
}

constexpr std::string_view kNoHostText = "no host is allowed";

bool is_about_host(DenialReason reason) {
  return reason == DenialReason::kHostNotAllowed || reason == DenialReason::kAddressWithoutName;
}

}  // namespace

std::string_view denial_text(DenialReason reason) {
  switch (reason) {
    case DenialReason::kHostNotAllowed:
      return "host not allowed";
    case DenialReason::kPortNotAllowed:
      return "port not allowed";
    case DenialReason::kAddressWithoutName:
      return "address without a name";
    case DenialReason::kNotTcp:
      return "not tcp";
    case DenialReason::kServerNameDiffers:
      return "server name differs";
    case DenialReason::kNoServerName:
      return "no server name";
    case DenialReason::kEncryptedClientHello:
      return "encrypted client hello";
    case DenialReason::kEarlyData:
      return "early data";
    case DenialReason::kNotTls:
      return "not tls";
    case DenialReason::kAmbiguousTls:
      return "ambiguous tls handshake";
    case DenialReason::kNotHttp:
      return "not http";
    case DenialReason::kAmbiguousHttp:
      return "ambiguous http request";
    case DenialReason::kHttpUpgrade:
      return "http upgrade";
    case DenialReason::kHostHeaderDiffers:
      return "host header differs";
    case DenialReason::kSpecialAddress:
      return "special address";
    case DenialReason::kOwnAddress:
      return "address of this host";
    case DenialReason::kNameDoesNotResolve:
      return "name does not resolve";
    case DenialReason::kByteBudget:
      return "byte budget";
    case DenialReason::kClientTooSlow:
      return "client too slow";
    case DenialReason::kTooManyNames:
      return "too many names";
    case DenialReason::kNotForCredentials:
      return "not for credentials";
    case DenialReason::kCredentialsInAnswer:
      return "credentials in the answer";
    case DenialReason::kMoreDenials:
      return "more denials";
  }
  return "more denials";
}

void DenialLog::add(std::string_view host, std::uint16_t port, DenialReason reason, std::string_view address_class) {
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
  denials_.push_back(
      {.host = name,
       .port = number,
       .reason = no_host_allowed_ && is_about_host(why) ? std::string(kNoHostText) : text_of(why, address_class),
       .count = 1,
       .time = std::chrono::system_clock::now(),
       .hint = how_to_allow(name, number, why, address_class)});
  if (denials_.size() == 1) first_.signal();
  if (sink_ != nullptr) {
    sink_->emit({.level = EventLevel::kWarning,
                 .name = event_name::kEgressDenied,
                 .fields = {{"host", name},
                            {"port", std::to_string(number)},
                            {"reason", denials_.back().reason},
                            {"hint", denials_.back().hint}}});
  }
}

}  // namespace sallyport
