#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/egress/ascii.h"
#include "core/egress/host_name.h"
#include "core/egress/ip_address.h"
#include "core/errors.h"
#include "sallyport/egress.h"

namespace sallyport {
namespace {

constexpr std::string_view kGrammar =
    "write http://HOST:PORT or https://HOST:PORT, with USER:PASSWORD@ before the host if it wants one";
constexpr std::string_view kNameOne =
    "set https_proxy (or HTTPS_PROXY, http_proxy) to http://HOST:PORT, or name the proxy itself";
constexpr std::uint16_t kUsualPort = 80;
constexpr std::uint16_t kUsualTlsPort = 443;
constexpr std::size_t kLongestCredentials = 1024;

// The error leaves out the URL: it can hold a password.
Error proxy_error(std::string_view why, std::string_view hint = kGrammar) {
  return invalid_request("via_proxy", why, hint);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// "%40" is "@". A decoded line end would start another header in the request that carries the text.
Result<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = high < 0 ? -1 : hex_digit(text[i + 2]);
      if (low < 0) return fail(proxy_error("a % in the user or password is not followed by two hex digits"));
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return fail(proxy_error("a control character in it"));
    out += c;
  }
  if (out.size() > kLongestCredentials) return fail(proxy_error("user and password are too long"));
  return out;
}

Result<std::uint16_t> port_of(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (problem != std::errc{} || end != text.data() + text.size() || port == 0) {
    return fail(proxy_error("its port is no number from 1 to 65535"));
  }
  return port;
}

Result<std::string> host_of(std::string_view text) {
  if (text.empty()) return fail(proxy_error("it names no host"));
  if (const std::optional<IpAddress> address = parse_ip_address(text)) return ip_address_text(*address);
  Result<std::string> name = normalise_host_name(text);
  // Without the text: in a URL with a stray / or @ it is part of the password.
  if (!name) return fail(proxy_error("its host is no name and no address"));
  return name;
}

// "a.test, .b.test" of NO_PROXY. Entries that are no names (addresses, networks) match nothing here: hosts are names.
std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view one = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    while (one.starts_with(' ') || one.starts_with('.')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    std::string name(one);
    std::ranges::transform(name, name.begin(), ascii_lower);
    if (!name.empty()) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

Result<UpstreamProxy> UpstreamProxy::of(const UpstreamProxyText& text) {
  const std::string_view url = text.url;
  if (url.empty()) return fail(proxy_error("it names no proxy", kNameOne));
  const std::size_t scheme_end = url.find("://");
  const std::string_view scheme = scheme_end == std::string_view::npos ? "http" : url.substr(0, scheme_end);
  const bool tls = scheme == "https";
  if (!tls && scheme != "http") return fail(proxy_error("its scheme is not http or https"));
  std::string_view rest = scheme_end == std::string_view::npos ? url : url.substr(scheme_end + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  UpstreamProxy proxy;
  proxy.tls_ = tls;
  proxy.port_ = tls ? kUsualTlsPort : kUsualPort;
  proxy.without_ = names_in(text.without);
  if (const std::size_t user = rest.rfind('@'); user != std::string_view::npos) {
    proxy.credentials_ = TRY(decoded(rest.substr(0, user)));
    rest.remove_prefix(user + 1);
  }
  const std::size_t colon = rest.rfind(':');
  const bool has_port = colon != std::string_view::npos && rest.find(']', colon) == std::string_view::npos;
  if (has_port) proxy.port_ = TRY(port_of(rest.substr(colon + 1)));
  proxy.host_ = TRY(host_of(has_port ? rest.substr(0, colon) : rest));
  return proxy;
}

std::string proxy_text(const UpstreamProxy& proxy) {
  const bool v6 = proxy.host().find(':') != std::string::npos;
  const std::string_view scheme = proxy.tls() ? "https" : "http";
  return v6 ? fmt::format("{}://[{}]:{}", scheme, proxy.host(), proxy.port())
            : fmt::format("{}://{}:{}", scheme, proxy.host(), proxy.port());
}

}  // namespace sallyport
