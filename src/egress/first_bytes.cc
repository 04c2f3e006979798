#include "egress/first_bytes.h"

#include <fmt/format.h>

#include "core/egress/client_hello.h"
#include "core/egress/host_name.h"
#include "core/egress/tls_opening.h"
#include "core/text/printable.h"

namespace sallyport {
namespace {

enum class TlsAlert : std::uint8_t { kAccessDenied = 49, kUnrecognizedName = 112 };

// A fatal alert in a TLS 1.2 record, which every client understands.
std::string tls_goodbye(TlsAlert alert) { return {21, 3, 3, 0, 2, 2, static_cast<char>(alert)}; }

FirstBytes refused(DenialReason reason, std::string_view host, TlsAlert alert) {
  return {.kind = FirstBytes::Kind::kRefused,
          .refusal = {.reason = reason, .host = std::string(host), .goodbye = tls_goodbye(alert)}};
}

std::string http_goodbye(std::string_view host, std::uint16_t port, std::string_view why) {
  const std::string shown = printable(host.substr(0, kLongestHostName));
  const std::string place = port == kHttpPort ? shown : fmt::format("{}:{}", shown, port);
  const std::string body = fmt::format(
      "sallyport: {} is refused: {}\nhint: allow {} in the call that started this tool\n", place, why, place);
  return fmt::format(
      "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n"
      "Connection: close\r\n\r\n{}",
      body.size(), body);
}

bool same_name(std::string_view said, std::string_view name) {
  const Result<std::string> normal = normalise_host_name(said);
  return normal && *normal == name;
}

FirstBytes judge_hello(ConnectionCheck check, const ClientHelloVerdict& hello, std::string_view name) {
  if (hello.encrypted_client_hello) {
    return refused(DenialReason::kEncryptedClientHello, {}, TlsAlert::kAccessDenied);
  }
  // After early data a second hello could not be distinguished from encrypted bytes.
  if (hello.early_data) return refused(DenialReason::kEarlyData, {}, TlsAlert::kAccessDenied);
  if (!hello.has_server_name && check == ConnectionCheck::kTls) {
    return refused(DenialReason::kNoServerName, {}, TlsAlert::kUnrecognizedName);
  }
  if (hello.has_server_name && !same_name(hello.server_name, name)) {
    return refused(DenialReason::kServerNameDiffers, hello.server_name, TlsAlert::kUnrecognizedName);
  }
  return {.kind = FirstBytes::Kind::kPass, .size = hello.size};
}

DenialReason reason_of(HttpFault fault) {
  switch (fault) {
    case HttpFault::kNotARequest:
      return DenialReason::kNotHttp;
    case HttpFault::kConnect:
    case HttpFault::kHttp2:
    case HttpFault::kUpgrade:
      return DenialReason::kHttpUpgrade;
    case HttpFault::kNone:
    case HttpFault::kMalformedField:
    case HttpFault::kBareCrOrLf:
    case HttpFault::kHeadTooLarge:
    case HttpFault::kNoHost:
    case HttpFault::kTwoHosts:
    case HttpFault::kMalformedHost:
    case HttpFault::kAmbiguousLength:
    case HttpFault::kBodyWithoutMeaning:
    case HttpFault::kMalformedChunk:
    case HttpFault::kMalformedTrailer:
      break;
  }
  return DenialReason::kAmbiguousHttp;
}

}  // namespace

FirstBytes judge_first_bytes(ConnectionCheck check, std::span<const std::uint8_t> bytes, std::string_view name) {
  const ClientHelloVerdict hello = parse_client_hello(bytes);
  switch (hello.kind) {
    case ClientHelloVerdict::Kind::kUnsure:
      return {};
    case ClientHelloVerdict::Kind::kNeedMore:
      return {.kind = FirstBytes::Kind::kNeedMore};
    case ClientHelloVerdict::Kind::kHello:
      return judge_hello(check, hello, name);
    case ClientHelloVerdict::Kind::kMalformed:
      return refused(DenialReason::kAmbiguousTls, {}, TlsAlert::kAccessDenied);
    case ClientHelloVerdict::Kind::kNotTls:
      break;
  }
  if (check == ConnectionCheck::kByAddress) return {.kind = FirstBytes::Kind::kNotTls};
  return {.kind = FirstBytes::Kind::kRefused, .refusal = {.reason = DenialReason::kNotTls}};
}

FirstBytes judge_after_hello(ConnectionCheck check, std::span<const std::uint8_t> bytes, std::string_view name,
                             bool server_has_chosen) {
  const ClientRecord record = parse_after_client_hello(bytes, server_has_chosen);
  switch (record.kind) {
    case ClientRecord::Kind::kNeedMore:
      return {.kind = FirstBytes::Kind::kNeedMore};
    case ClientRecord::Kind::kHello:
      return judge_hello(check, record.hello, name);
    case ClientRecord::Kind::kAside:
      return {.kind = FirstBytes::Kind::kPass, .size = record.size};
    case ClientRecord::Kind::kSettled:
      return {.kind = FirstBytes::Kind::kSettled};
    case ClientRecord::Kind::kRefused:
      break;
  }
  return refused(DenialReason::kAmbiguousTls, {}, TlsAlert::kAccessDenied);
}

std::optional<Refusal> refuse_host(const HttpRequests::Step& head, std::string_view name, std::uint16_t port) {
  const bool same_port = head.port == 0 || head.port == port;
  if (same_port && same_name(head.host, name)) return std::nullopt;
  const std::uint16_t said_port = head.port == 0 ? port : head.port;
  return Refusal{.reason = DenialReason::kHostHeaderDiffers,
                 .host = head.host,
                 .goodbye = http_goodbye(head.host, said_port, "the address asked for belongs to another host")};
}

Refusal refuse_request(HttpFault fault, std::string_view name, std::uint16_t port) {
  const DenialReason reason = reason_of(fault);
  Refusal refusal{.reason = reason};
  // Bytes that are not HTTP get no HTTP answer.
  if (reason != DenialReason::kNotHttp) refusal.goodbye = http_goodbye(name, port, text_of(fault));
  return refusal;
}

}  // namespace sallyport
