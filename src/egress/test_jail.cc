#include "egress/test_jail.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>

namespace sallyport::test {
namespace {

constexpr std::uint16_t kDnsPort = 53;
constexpr std::uint16_t kCatchAll = 61000;

std::string u16(std::size_t value) { return {static_cast<char>(value >> 8 & 0xff), static_cast<char>(value & 0xff)}; }
std::string sized(std::string_view bytes) { return u16(bytes.size()) + std::string(bytes); }

}  // namespace

HostRule rule_to(std::string name, std::uint16_t server, std::optional<std::uint16_t> port) {
  HostRuleFields fields = rule_for(std::move(name), port).fields();
  fields.target = HostTarget{.address = "127.0.0.1", .port = server};
  return HostRule::of(std::move(fields)).value();
}

HostRule rule_for(std::string name, std::optional<std::uint16_t> port) {
  const bool below = name.starts_with("*.");
  return HostRule::of({.name = below ? name.substr(2) : name, .any_subdomain = below, .port = port}).value();
}

std::string dns_query(std::string_view name, std::uint16_t type, std::uint16_t id) {
  std::string query = u16(id) + std::string("\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00", 10);
  while (!name.empty()) {
    const std::string_view label = name.substr(0, name.find('.'));
    query += static_cast<char>(label.size());
    query += label;
    name.remove_prefix(std::min(name.size(), label.size() + 1));
  }
  return query + '\0' + u16(type) + u16(1);
}

DnsReply parse_reply(std::string_view message) {
  const auto byte = [&](std::size_t i) { return i < message.size() ? static_cast<unsigned char>(message[i]) : 0U; };
  if (message.size() < 12) return {};
  DnsReply reply{.rcode = static_cast<int>(byte(3) & 0xf)};
  if (byte(7) == 0) return reply;
  std::size_t place = 12;
  while (byte(place) != 0) place += byte(place) + 1;
  place += 5 + 10;  // the question's end; the answer's pointer, type, class and time to live
  IpAddress address{.v6 = byte(place + 1) == 16};
  for (std::size_t i = 0; i < (address.v6 ? 16 : 4); ++i) {
    address.bytes[i] = static_cast<std::uint8_t>(byte(place + 2 + i));
  }
  reply.address = address;
  return reply;
}

Jail::Jail(std::vector<HostRule> rules, EgressOptions options, Kernel kernel) {
  options.rules = EgressRules(std::move(rules));
  EgressSockets sockets;
  std::vector<std::uint16_t> listening = options.rules.ports();
  for (const bool v6 : {false, true}) {
    for (const std::uint16_t port : listening) sockets.listeners.push_back(net_.listener(v6, port));
    sockets.redirected.push_back(net_.listener(v6, kCatchAll));
    sockets.dns_udp.push_back(net_.udp(v6, kDnsPort));
    sockets.dns_tcp.push_back(net_.listener(v6, kDnsPort));
  }
  if (kernel == Kernel::kRefusesAtOnce) sockets.refusals = net_.refuse_at_once(listening);
  refuses_at_once_ = static_cast<bool>(sockets.refusals);
  listening.push_back(kDnsPort);
  redirects_ = refuses_at_once_ || net_.redirect_other_ports(listening, kCatchAll);
  if (!refuses_at_once_ && !net_.prohibit_groups()) std::abort();
  Result<std::unique_ptr<EgressProxy>> started = EgressProxy::start(std::move(sockets), std::move(options));
  if (!started) std::abort();
  proxy_ = std::move(*started);
}

DnsReply Jail::ask(std::string_view name, std::uint16_t type, std::string_view server) const {
  const Endpoint to = at(server, kDnsPort);
  const UniqueFd socket = net_.socket(to.address.v6, SOCK_DGRAM);
  const SocketAddress address = socket_address(to);
  const std::string query = dns_query(name, type);
  if (::sendto(socket.get(), query.data(), query.size(), 0, address.get(), address.length) < 0) return {};
  std::array<char, 1500> buffer{};
  SocketAddress from;
  from.length = sizeof from.storage;
  const ssize_t got = ::recvfrom(socket.get(), buffer.data(), buffer.size(), 0, from.get(), &from.length);
  if (got < 0) return {};
  DnsReply reply = parse_reply({buffer.data(), static_cast<std::size_t>(got)});
  reply.from = endpoint_of(from.get());
  return reply;
}

UniqueFd Jail::open(std::string_view name, std::uint16_t port, bool v6) const {
  const DnsReply reply = ask(name, v6 ? kDnsTypeAaaa : kDnsTypeA);
  return reply.address ? net_.connect({.address = *reply.address, .port = port}) : UniqueFd();
}

std::vector<std::string> texts(const std::vector<Denial>& denials) {
  std::vector<std::string> lines;
  for (const Denial& denial : denials) {
    lines.push_back(fmt::format("{}:{} {} x{}", denial.host, denial.port, reason_text(denial), denial.count));
  }
  return lines;
}

std::string tls_extension(std::uint16_t type, std::string_view body) { return u16(type) + sized(body); }

std::string client_hello(std::string_view server_name, std::string_view extensions) {
  std::string all(extensions);
  if (!server_name.empty()) all += tls_extension(0, sized('\0' + sized(server_name)));
  const std::string body =
      "\x03\x03" + std::string(32, 'r') + '\0' + sized("\x13\x01") + std::string("\x01\x00", 2) + sized(all);
  const std::string message = std::string("\x01\x00", 2) + sized(body);
  return "\x16\x03\x01" + sized(message);
}

}  // namespace sallyport::test
