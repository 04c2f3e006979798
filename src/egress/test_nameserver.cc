#include "egress/test_nameserver.h"

#include <sys/socket.h>

#include <array>

#include "core/egress/dns_message.h"

namespace sallyport::test {

NameServer::NameServer(Records records, const Endpoint& where)
    : records_(std::move(records)), socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  const SocketAddress any = socket_address(where);
  if (::bind(socket_.get(), any.get(), any.length) != 0) std::abort();
  where_ = *local_endpoint(socket_.get());
  thread_ = std::thread([this] { serve(); });
}

NameServer::~NameServer() {
  // An empty datagram ends the thread.
  const SocketAddress to = socket_address(where_);
  ::sendto(socket_.get(), nullptr, 0, 0, to.get(), to.length);
  thread_.join();
}

void NameServer::rebind(const std::string& name, std::vector<std::string> addresses) {
  const std::lock_guard lock(mutex_);
  records_[name] = std::move(addresses);
  rebound_ = true;
}

std::vector<std::string> NameServer::questions() {
  const std::lock_guard lock(mutex_);
  return questions_;
}

void NameServer::serve() {
  std::array<char, 1500> buffer{};
  while (true) {
    SocketAddress from;
    from.length = sizeof from.storage;
    const ssize_t got = ::recvfrom(socket_.get(), buffer.data(), buffer.size(), 0, from.get(), &from.length);
    if (got <= 0) return;
    const std::string reply = answer({buffer.data(), static_cast<std::size_t>(got)});
    ::sendto(socket_.get(), reply.data(), reply.size(), 0, from.get(), from.length);
  }
}

// The code under test writes the answer with one address; this appends the others.
std::string NameServer::answer(std::string_view query) {
  const auto parsed = parse_dns_query({reinterpret_cast<const std::uint8_t*>(query.data()), query.size()});
  if (!parsed) return {};
  const DnsQuery& asked = parsed->query;
  const std::lock_guard lock(mutex_);
  questions_.push_back(asked.name + (asked.type == kDnsTypeA ? " A" : " AAAA"));
  const auto known = records_.find(asked.name);
  if (known == records_.end()) {
    const std::vector<std::uint8_t> none = write_dns_answer(asked, DnsRcode::kNxDomain, std::nullopt);
    return {none.begin(), none.end()};
  }
  std::string reply;
  std::size_t one_record = 0;
  for (const std::string& text : known->second) {
    const IpAddress address = at(text, 0).address;
    if (address.v6 != (asked.type == kDnsTypeAaaa)) continue;
    const std::vector<std::uint8_t> bytes = write_dns_answer(asked, DnsRcode::kNoError, address);
    one_record = (address.v6 ? 16U : 4U) + 12;
    std::string message(bytes.begin(), bytes.end());
    constexpr std::size_t kLife = 6;  // bytes before the address: how long it may be kept (4), the address's size (2)
    if (rebound_) message.replace(message.size() - (address.v6 ? 16U : 4U) - kLife, 4, 4, '\0');
    // Between header and question, and the OPT record at the end: c-ares sends none.
    if (reply.empty()) {
      reply = message;
    } else {
      reply += message.substr(message.size() - one_record);
      ++reply[7];
    }
  }
  if (!reply.empty()) return reply;
  const std::vector<std::uint8_t> none = write_dns_answer(asked, DnsRcode::kNoError, std::nullopt);
  return {none.begin(), none.end()};
}

}  // namespace sallyport::test
