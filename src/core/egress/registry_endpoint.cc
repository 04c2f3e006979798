#include "core/egress/registry_endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/bytes/base64.h"
#include "core/egress/http_text.h"
#include "core/egress/registry_url.h"
#include "core/egress/secret_search.h"
#include "core/errors.h"
#include "core/text/printable.h"

namespace sallyport {
namespace {

constexpr std::uint16_t kTlsPortOfRegistry = 443;
constexpr std::uint16_t kPlainPort = 80;
constexpr std::size_t kLongestAuthorization = 8 * 1024;
// Almost any answer would contain a shorter secret.
constexpr std::size_t kShortestSecret = 8;

Error auth_error(std::string_view why, std::string_view hint) { return invalid_request("registry_auth", why, hint); }

void add_secret(std::vector<std::string>& secrets, std::string secret) {
  const bool known = std::ranges::find(secrets, secret) != secrets.end();
  if (secret.size() >= kShortestSecret && !known) secrets.push_back(std::move(secret));
}

Result<std::vector<std::string>> secrets_of(std::string_view authorization) {
  const std::size_t space = authorization.find(' ');
  const std::string_view scheme = authorization.substr(0, space);
  if (space == std::string_view::npos || (scheme != "Bearer" && scheme != "Basic")) {
    return fail(auth_error("credentials are neither Bearer nor Basic", "give a token, or a user and a password"));
  }
  const std::string_view secret = authorization.substr(space + 1);
  const bool plain = std::ranges::all_of(secret, [](char c) { return c > 0x20 && c < 0x7f; });
  if (!plain || authorization.size() > kLongestAuthorization) {
    return fail(auth_error("the credentials hold a byte that no header may, or are too long", "see your .npmrc"));
  }
  if (secret.size() < kShortestSecret) {
    return fail(auth_error(fmt::format("the credentials have fewer than {} characters", kShortestSecret),
                           "so short a token cannot be kept from the tool; use a longer one"));
  }
  std::vector<std::string> secrets{std::string(secret)};
  if (scheme == "Basic") {
    const std::string user_and_password = from_base64(secret).value_or("");
    add_secret(secrets, user_and_password);
    add_secret(secrets,
               user_and_password.substr(std::min(user_and_password.find(':'), user_and_password.size() - 1) + 1));
  }
  for (const std::string& one : std::vector<std::string>(secrets)) {
    for (std::string& encoded : encodings_of(one)) add_secret(secrets, std::move(encoded));
  }
  return secrets;
}

// Decodes once, and only an unambiguous path: a server could read a second percent sign, a dot segment or an empty
// segment as another path. Empty: refused.
std::string decoded_path(std::string_view path) {
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    char c = path[i];
    if (c == '%') {
      const std::string_view digits = path.substr(i + 1, 2);
      const bool hex = digits.size() == 2 && std::ranges::all_of(digits, [](char d) {
                         return is_ascii_digit(d) || (ascii_lower(d) >= 'a' && ascii_lower(d) <= 'f');
                       });
      if (!hex) return {};
      const auto value = [](char d) { return is_ascii_digit(d) ? d - '0' : ascii_lower(d) - 'a' + 10; };
      c = static_cast<char>(value(digits[0]) * 16 + value(digits[1]));
      i += 2;
      if (c == '%') return {};
    }
    const bool plain = c > 0x20 && c < 0x7f && c != '\\' && c != ';' && c != '#' && c != '?';
    if (!plain) return {};
    out += c;
  }
  for (std::size_t at = 0; at < out.size();) {
    const std::size_t end = std::min(out.find('/', at + 1), out.size());
    const std::string_view segment = std::string_view(out).substr(at + 1, end - at - 1);
    const bool last = end == out.size();
    if (segment == "." || segment == ".." || (segment.empty() && !last)) return {};
    at = end;
  }
  return out;
}

// True for paths below the registry's own "-/" that an install or a signature check reads.
bool is_readable_service(std::string_view path) {
  static constexpr auto kExact = std::to_array<std::string_view>({"-/ping", "-/npm/v1/keys", "-/v1/search"});
  return std::ranges::find(kExact, path) != kExact.end() || path.starts_with("-/npm/v1/attestations/") ||
         path.starts_with("-/binary/");
}

std::string_view why_not_target(std::string_view target, const RegistryEndpoint& endpoint) {
  if (!target.starts_with('/')) return "its target is no path";
  const std::string path = decoded_path(target.substr(0, target.find('?')));
  if (path.empty()) return "its path has more than one reading";
  if (!path.starts_with(endpoint.path)) return "its path is not the registry's";
  const std::string_view below = std::string_view(path).substr(endpoint.path.size());
  if ((below == "-" || below.starts_with("-/")) && !is_readable_service(below)) {
    return "this part of the registry is not for a tool";
  }
  // No package name begins like this, but a registry's own services do (_session, _users, .well-known).
  if (below.starts_with('_') || below.starts_with('.')) return "this part of the registry is not for a tool";
  return {};
}

bool passes(const Field& field) {
  static constexpr auto kExact = std::to_array<std::string_view>(
      {"accept", "cache-control", "if-modified-since", "if-none-match", "pragma", "referer", "user-agent"});
  return std::ranges::any_of(kExact, [&](std::string_view name) { return names_field(field, name); }) ||
         starts_with_ignoring_case(field.name, "npm-") || starts_with_ignoring_case(field.name, "pacote-");
}

std::string authority_of(const RegistryEndpoint& endpoint, std::uint16_t port, std::uint16_t usual) {
  return port == usual ? endpoint.name : fmt::format("{}:{}", endpoint.name, port);
}

Result<RegistryEndpoint> endpoint_of(std::string_view registry, std::string authorization) {
  const RegistryPlace place = TRY(registry_place(registry));
  RegistryEndpoint endpoint{.name = place.name,
                            .port = place.port,
                            .registry_port = place.port,
                            .tls = place.tls,
                            .path = place.path,
                            .authorization = std::move(authorization)};
  if (place.tls && place.port == kTlsPortOfRegistry) endpoint.port = kPlainPort;
  if (decoded_path(endpoint.path) != endpoint.path) {
    return fail(auth_error(fmt::format("the registry's path '{}' is not plain", printable(endpoint.path)),
                           "see what `npm config get registry` says"));
  }
  endpoint.secrets = TRY(secrets_of(endpoint.authorization));
  return endpoint;
}

}  // namespace

Result<RegistryCredentials> RegistryCredentials::of(std::string registry, std::string authorization) {
  static_cast<void>(TRY(endpoint_of(registry, authorization)));
  return RegistryCredentials(std::move(registry), std::move(authorization));
}

std::string RegistryEndpoint::url() const {
  return fmt::format("http://{}{}", authority_of(*this, port, kPlainPort), path);
}

std::string RegistryEndpoint::registry_origin() const {
  const std::string authority = authority_of(*this, registry_port, tls ? kTlsPortOfRegistry : kPlainPort);
  return fmt::format("{}://{}", tls ? "https" : "http", authority);
}

RegistryEndpoint registry_endpoint(const RegistryCredentials& credentials) {
  return endpoint_of(credentials.registry(), credentials.authorization()).value();  // it was checked when it was made
}

RegistryRequest registry_request(std::string_view head, const RegistryEndpoint& endpoint) {
  const std::string_view line = take_line(head);
  const std::string_view method = line.substr(0, line.find(' '));
  const std::string_view target = line.substr(method.size() + 1, line.rfind(' ') - method.size() - 1);
  RegistryRequest request{.is_head = method == "HEAD"};
  if (method != "GET" && method != "HEAD") {
    request.why = "only GET and HEAD are sent with your credentials";
    return request;
  }
  if (request.why = why_not_target(target, endpoint); !request.why.empty()) return request;
  const std::string authority =
      authority_of(endpoint, endpoint.registry_port, endpoint.tls ? kTlsPortOfRegistry : kPlainPort);
  // One request per connection, and an uncompressed answer, in which we could find the credentials.
  request.head = fmt::format(
      "{} {} HTTP/1.1\r\nHost: {}\r\nAuthorization: {}\r\nAccept-Encoding: identity\r\nConnection: close\r\n", method,
      target, authority, endpoint.authorization);
  for (std::string_view field_line = take_line(head); !field_line.empty(); field_line = take_line(head)) {
    const std::optional<Field> field = parse_field(field_line);
    if (field && passes(*field)) request.head.append(field_line).append("\r\n");
  }
  request.head += "\r\n";
  return request;
}

}  // namespace sallyport
