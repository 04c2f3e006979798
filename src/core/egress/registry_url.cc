#include "core/egress/registry_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/egress/ip_address.h"
#include "core/errors.h"

namespace sallyport {
namespace {

struct RegistryUrl {
  std::string_view scheme;
  std::string_view host;
  std::string_view port;  // empty: the scheme's own
  std::string_view path;  // with what follows it
};

Error registry_error(std::string_view url, std::string_view why, std::string_view hint) {
  Error error = invalid_request(fmt::format("registry '{}'", url), why, hint);
  error.detail = InvalidRequest{.field = "registry"};
  return error;
}

Result<RegistryUrl> split_registry_url(std::string_view url) {
  static constexpr std::string_view kHint = "see what `npm config get registry` says";
  RegistryUrl parts;
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return fail(registry_error(url, "not a URL", kHint));
  parts.scheme = url.substr(0, scheme_end);
  if (parts.scheme != "https" && parts.scheme != "http") {
    return fail(registry_error(url, "neither https nor http", kHint));
  }
  std::string_view rest = url.substr(scheme_end + 3);
  const std::size_t authority_end = std::min(rest.find_first_of("/?#\\"), rest.size());
  parts.path = rest.substr(authority_end);
  rest = rest.substr(0, authority_end);
  if (rest.find('@') != std::string_view::npos) {
    return fail(registry_error(url, "it holds a user", "keep credentials out of the URL, as npm's _authToken"));
  }
  const std::size_t colon = rest.rfind(':');
  const bool has_port = colon != std::string_view::npos && rest.find(']', colon) == std::string_view::npos;
  parts.host = has_port ? rest.substr(0, colon) : rest;
  if (has_port) parts.port = rest.substr(colon + 1);
  if (parts.host.empty()) return fail(registry_error(url, "it names no host", kHint));
  return parts;
}

// Such a host has no name to look up, or a name that inside a jail means the jail itself.
bool is_nameless(std::string_view host) {
  return parse_ip_address(host) || host == "localhost" || host.ends_with(".localhost");
}

std::string_view usual_port(const RegistryUrl& parts) { return parts.scheme == "https" ? "443" : "80"; }

Result<std::uint16_t> port_number(std::string_view url, std::string_view port) {
  std::uint16_t number = 0;
  const char* const end = port.data() + port.size();
  const auto [after, error] = std::from_chars(port.data(), end, number);
  if (error == std::errc{} && after == end && number != 0) return number;
  return fail(registry_error(url, "its port is no number from 1 to 65535", "see what `npm config get registry` says"));
}

}  // namespace

Result<HostRule> registry_host_rule(std::string_view url) {
  const RegistryUrl parts = TRY(split_registry_url(url));
  const std::string_view usual = usual_port(parts);
  const std::string_view port = parts.port.empty() ? usual : parts.port;
  if (is_nameless(parts.host)) {
    const std::string_view address = parse_ip_address(parts.host) ? parts.host : "127.0.0.1";
    return fail(
        registry_error(url, "it has no name that a rule could hold",
                       fmt::format("use `allowed_hosts` NAME:{0}={1}:{0} and npm's --registry {2}://NAME:{0}/ instead",
                                   port, address, parts.scheme)));
  }
  // The operator's own resolver gives its address: behind a VPN, a gateway or a mirror that can be of any class.
  HostRuleFields rule{.name = std::string(parts.host), .any_class = true};
  // Leave out the usual ports: then connections to them must carry TLS, or HTTP, for that very name.
  if (port == usual) return HostRule::of(std::move(rule));
  rule.port = TRY(port_number(url, port));
  return HostRule::of(std::move(rule));
}

Result<RegistryPlace> registry_place(std::string_view url) {
  const HostRule rule = TRY(registry_host_rule(url));
  const RegistryUrl parts = TRY(split_registry_url(url));
  RegistryPlace place{.name = rule.fields().name, .tls = parts.scheme == "https"};
  place.port = TRY(port_number(url, parts.port.empty() ? usual_port(parts) : parts.port));
  place.path = parts.path.substr(0, parts.path.find_first_of("?#"));
  if (!place.path.starts_with('/')) place.path.insert(0, 1, '/');
  if (!place.path.ends_with('/')) place.path += '/';
  return place;
}

}  // namespace sallyport
