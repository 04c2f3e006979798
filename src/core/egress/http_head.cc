#include "core/egress/http_head.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/egress/http_text.h"

namespace sallyport {
namespace {

struct RequestLine {
  HttpFault fault = HttpFault::kNone;
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

RequestLine refused_line(HttpFault fault) { return {.fault = fault}; }

RequestLine parse_request_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return refused_line(HttpFault::kNotARequest);
  const std::string_view version = line.substr(last + 1);
  RequestLine request{.method = line.substr(0, first), .target = line.substr(first + 1, last - first - 1)};
  request.is_1_1 = version == "HTTP/1.1";
  if (version.starts_with("HTTP/2")) return refused_line(HttpFault::kHttp2);
  if (!request.is_1_1 && version != "HTTP/1.0") return refused_line(HttpFault::kNotARequest);
  if (!is_token(request.method)) return refused_line(HttpFault::kNotARequest);
  if (request.method == "CONNECT") return refused_line(HttpFault::kConnect);
  if (request.target.empty() || !std::ranges::all_of(request.target, is_target_char)) {
    return refused_line(HttpFault::kNotARequest);
  }
  const bool origin = request.target.starts_with('/');
  const bool asterisk = request.target == "*" && request.method == "OPTIONS";
  const bool absolute = starts_with_ignoring_case(request.target, "http://");
  return origin || asterisk || absolute ? request : refused_line(HttpFault::kNotARequest);
}

// The values of the fields, before they are checked against each other.
struct Fields {
  std::optional<std::string_view> host{};
  std::optional<std::string_view> length{};
  std::optional<std::string_view> coding{};
  std::optional<std::string_view> upgrade{};
};

HttpFault keep_once(std::optional<std::string_view>& kept, std::string_view value, HttpFault twice) {
  if (kept) return twice;
  kept = value;
  return HttpFault::kNone;
}

HttpFault read_field(std::string_view line, Fields& fields) {
  const std::optional<Field> field = parse_field(line);
  if (!field) return HttpFault::kMalformedField;
  if (names_field(*field, "host")) return keep_once(fields.host, field->value, HttpFault::kTwoHosts);
  if (names_field(*field, "content-length")) return keep_once(fields.length, field->value, HttpFault::kAmbiguousLength);
  if (names_field(*field, "transfer-encoding"))
    return keep_once(fields.coding, field->value, HttpFault::kAmbiguousLength);
  if (names_field(*field, "upgrade")) return keep_once(fields.upgrade, field->value, HttpFault::kUpgrade);
  // CGI turns "_" into "-", so an application behind CGI takes one name for the other.
  const bool twin = field->name.find('_') != std::string_view::npos && is_framing_field(field->name);
  return twin ? HttpFault::kMalformedField : HttpFault::kNone;
}

HttpFault settle_body(const Fields& fields, const RequestLine& request, HttpHead& head) {
  if (fields.length && fields.coding) return HttpFault::kAmbiguousLength;
  if (fields.coding) {
    // HTTP/1.0 has no codings, so its servers disagree on where such a request ends.
    if (*fields.coding != "chunked" || !request.is_1_1) return HttpFault::kAmbiguousLength;
    head.body = HttpHead::Body::kChunked;
  }
  if (fields.length) {
    const std::optional<std::uint64_t> length = parse_plain_number<std::uint64_t>(*fields.length);
    if (!length || *length > INT64_MAX) return HttpFault::kAmbiguousLength;
    head.length = *length;
    head.body = *length == 0 ? HttpHead::Body::kNone : HttpHead::Body::kLength;
  }
  // Servers that expect no body take its bytes for the next request.
  const bool bodyless = request.method == "GET" || request.method == "HEAD" || request.method == "TRACE";
  return bodyless && head.body != HttpHead::Body::kNone ? HttpFault::kBodyWithoutMeaning : HttpFault::kNone;
}

HttpFault settle_host(const Fields& fields, const RequestLine& request, HttpHead& head) {
  if (!fields.host || fields.host->empty()) return HttpFault::kNoHost;
  const std::optional<Authority> host = parse_authority(*fields.host);
  if (!host) return HttpFault::kMalformedHost;
  if (starts_with_ignoring_case(request.target, "http://")) {
    const std::string_view rest = request.target.substr(std::string_view("http://").size());
    const std::optional<Authority> named = parse_authority(rest.substr(0, rest.find_first_of("/?#\\")));
    if (!named) return HttpFault::kMalformedHost;
    if (!agree(*named, *host)) return HttpFault::kTwoHosts;
  }
  head.host = host->host;
  head.port = host->port;
  return HttpFault::kNone;
}

HttpFault settle_upgrade(const Fields& fields, HttpHead& head) {
  if (!fields.upgrade) return HttpFault::kNone;
  head.offers_h2c = *fields.upgrade == "h2c";
  return head.offers_h2c ? HttpFault::kNone : HttpFault::kUpgrade;
}

HttpHead refused_head(HttpFault fault) {
  HttpHead head;
  head.fault = fault;
  return head;
}

}  // namespace

std::string_view text_of(HttpFault fault) {
  switch (fault) {
    case HttpFault::kNone:
      return "";
    case HttpFault::kNotARequest:
      return "malformed request line";
    case HttpFault::kConnect:
      return "connect";
    case HttpFault::kHttp2:
      return "http/2";
    case HttpFault::kUpgrade:
      return "upgrade";
    case HttpFault::kMalformedField:
      return "malformed field";
    case HttpFault::kBareCrOrLf:
      return "bare cr or lf";
    case HttpFault::kHeadTooLarge:
      return "head too large";
    case HttpFault::kNoHost:
      return "no host";
    case HttpFault::kTwoHosts:
      return "two hosts";
    case HttpFault::kMalformedHost:
      return "malformed host";
    case HttpFault::kAmbiguousLength:
      return "ambiguous length";
    case HttpFault::kBodyWithoutMeaning:
      return "body without meaning";
    case HttpFault::kMalformedChunk:
      return "malformed chunk";
    case HttpFault::kMalformedTrailer:
      return "malformed trailer";
  }
  return "malformed";
}

HttpFault fault_of_request_line(std::string_view line) { return parse_request_line(line).fault; }

HttpHead parse_http_head(std::string_view head) {
  const RequestLine request = parse_request_line(take_line(head));
  if (request.fault != HttpFault::kNone) return refused_head(request.fault);
  Fields fields;
  for (std::string_view line = take_line(head); !line.empty(); line = take_line(head)) {
    if (const HttpFault fault = read_field(line, fields); fault != HttpFault::kNone) return refused_head(fault);
  }
  HttpHead result;
  for (const HttpFault fault :
       {settle_upgrade(fields, result), settle_body(fields, request, result), settle_host(fields, request, result)}) {
    if (fault != HttpFault::kNone) return refused_head(fault);
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
