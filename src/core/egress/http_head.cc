#include "core/egress/http_head.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/egress/http_text.h"

namespace sallyport {
namespace {

struct RequestLine {
  std::string_view why{};
  std::string_view method{};
  std::string_view target{};
  bool is_1_1 = false;
};

struct Authority {
  std::string_view host{};
  std::uint16_t port = 0;
};

// Digits only: no sign, no leading zero, nothing else that some reader takes for a number.
template <class T>
std::optional<T> parse_plain_number(std::string_view text) {
  T value = 0;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, value);
  const bool plain =
      error == std::errc{} && after == end && is_ascii_digit(text[0]) && (text.size() == 1 || text[0] != '0');
  return plain ? std::optional(value) : std::nullopt;
}

// host[:port], with only the bytes a name or a bracketed address has: no user, no list, no percent sign, no space.
std::optional<Authority> parse_authority(std::string_view text) {
  Authority authority{.host = text};
  const std::size_t bracket = text.starts_with('[') ? text.find(']') : 0;
  if (bracket == std::string_view::npos) return std::nullopt;
  const std::size_t colon = text.find(':', bracket);
  if (colon != std::string_view::npos) {
    const std::optional<std::uint16_t> port = parse_plain_number<std::uint16_t>(text.substr(colon + 1));
    if (!port || *port == 0) return std::nullopt;
    authority = {.host = text.substr(0, colon), .port = *port};
  }
  const bool bracketed = authority.host.starts_with('[') && authority.host.ends_with(']');
  const std::string_view inside = bracketed ? authority.host.substr(1, authority.host.size() - 2) : authority.host;
  const bool plain = std::ranges::all_of(
      inside, [&](char c) { return is_ascii_alnum(c) || c == '-' || c == '.' || c == '_' || (bracketed && c == ':'); });
  return plain && !inside.empty() ? std::optional(authority) : std::nullopt;
}

bool agree(const Authority& a, const Authority& b) {
  const auto port = [](const Authority& authority) { return authority.port == 0 ? 80 : authority.port; };
  return equal_ignoring_case(a.host, b.host) && port(a) == port(b);
}

RequestLine refused_line(std::string_view why) { return {.why = why}; }

RequestLine parse_request_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return refused_line("malformed request line");
  const std::string_view version = line.substr(last + 1);
  RequestLine request{.method = line.substr(0, first), .target = line.substr(first + 1, last - first - 1)};
  request.is_1_1 = version == "HTTP/1.1";
  if (version.starts_with("HTTP/2")) return refused_line("http/2");
  if (!request.is_1_1 && version != "HTTP/1.0") return refused_line("malformed request line");
  if (!is_token(request.method)) return refused_line("malformed request line");
  if (request.method == "CONNECT") return refused_line("connect");
  if (request.target.empty() || !std::ranges::all_of(request.target, is_target_char)) {
    return refused_line("malformed request line");
  }
  const bool origin = request.target.starts_with('/');
  const bool asterisk = request.target == "*" && request.method == "OPTIONS";
  const bool absolute = starts_with_ignoring_case(request.target, "http://");
  return origin || asterisk || absolute ? request : refused_line("malformed request line");
}

// The values of the fields, before they are checked against each other.
struct Fields {
  std::string_view why{};
  std::optional<std::string_view> host{};
  std::optional<std::string_view> length{};
  std::optional<std::string_view> coding{};
  std::optional<std::string_view> upgrade{};
};

std::string_view keep_once(std::optional<std::string_view>& kept, std::string_view value, std::string_view why_twice) {
  if (kept) return why_twice;
  kept = value;
  return {};
}

std::string_view read_field(std::string_view line, Fields& fields) {
  const std::optional<Field> field = parse_field(line);
  if (!field) return "malformed field";
  if (names_field(*field, "host")) return keep_once(fields.host, field->value, "two hosts");
  if (names_field(*field, "content-length")) return keep_once(fields.length, field->value, "ambiguous length");
  if (names_field(*field, "transfer-encoding")) return keep_once(fields.coding, field->value, "ambiguous length");
  if (names_field(*field, "upgrade")) return keep_once(fields.upgrade, field->value, "upgrade");
  // CGI turns "_" into "-", so an application behind CGI takes one name for the other.
  const bool twin = field->name.find('_') != std::string_view::npos && is_framing_field(field->name);
  return twin ? "malformed field" : "";
}

std::string_view settle_body(const Fields& fields, const RequestLine& request, HttpHead& head) {
  if (fields.length && fields.coding) return "ambiguous length";
  if (fields.coding) {
    // HTTP/1.0 has no codings, so its servers disagree on where such a request ends.
    if (*fields.coding != "chunked" || !request.is_1_1) return "ambiguous length";
    head.body = HttpHead::Body::kChunked;
  }
  if (fields.length) {
    const std::optional<std::uint64_t> length = parse_plain_number<std::uint64_t>(*fields.length);
    if (!length || *length > INT64_MAX) return "ambiguous length";
    head.length = *length;
    head.body = *length == 0 ? HttpHead::Body::kNone : HttpHead::Body::kLength;
  }
  // Servers that expect no body take its bytes for the next request.
  const bool bodyless = request.method == "GET" || request.method == "HEAD" || request.method == "TRACE";
  return bodyless && head.body != HttpHead::Body::kNone ? "body without meaning" : "";
}

std::string_view settle_host(const Fields& fields, const RequestLine& request, HttpHead& head) {
  if (!fields.host || fields.host->empty()) return "no host";
  const std::optional<Authority> host = parse_authority(*fields.host);
  if (!host) return "malformed host";
  if (starts_with_ignoring_case(request.target, "http://")) {
    const std::string_view rest = request.target.substr(std::string_view("http://").size());
    const std::optional<Authority> named = parse_authority(rest.substr(0, rest.find_first_of("/?#\\")));
    if (!named) return "malformed host";
    if (!agree(*named, *host)) return "two hosts";
  }
  head.host = host->host;
  head.port = host->port;
  return {};
}

std::string_view settle_upgrade(const Fields& fields, HttpHead& head) {
  if (!fields.upgrade) return {};
  head.offers_h2c = *fields.upgrade == "h2c";
  return head.offers_h2c ? "" : "upgrade";
}

HttpHead refused_head(std::string_view why) {
  HttpHead head;
  head.why = why;
  return head;
}

}  // namespace

std::string_view why_not_request_line(std::string_view line) { return parse_request_line(line).why; }

HttpHead parse_http_head(std::string_view head) {
  const RequestLine request = parse_request_line(take_line(head));
  if (!request.why.empty()) return refused_head(request.why);
  Fields fields;
  for (std::string_view line = take_line(head); !line.empty(); line = take_line(head)) {
    if (const std::string_view why = read_field(line, fields); !why.empty()) return refused_head(why);
  }
  HttpHead result;
  for (const std::string_view why :
       {settle_upgrade(fields, result), settle_body(fields, request, result), settle_host(fields, request, result)}) {
    if (!why.empty()) return refused_head(why);
  }
  return result;
}

bool is_harmless_trailer(std::string_view line) {
  const std::optional<Field> field = parse_field(line);
  return field && !is_framing_field(field->name);
}

std::string without_h2c_offer(std::string_view head) {
  std::string kept;
  for (std::string_view line = take_line(head); !line.empty(); line = take_line(head)) {
    const std::optional<Field> field = parse_field(line);
    if (field && (names_field(*field, "upgrade") || names_field(*field, "http2-settings"))) continue;
    if (field && names_field(*field, "connection")) {
      const std::string options = without_options(field->value, {"upgrade", "http2-settings"});
      if (!options.empty()) kept.append("Connection: ").append(options).append("\r\n");
      continue;
    }
    kept.append(line).append("\r\n");
  }
  return kept.append("\r\n");
}

}  // namespace sallyport
