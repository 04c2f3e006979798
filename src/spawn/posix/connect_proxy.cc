#include "spawn/posix/connect_proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <random>
#include <string_view>
#include <utility>

#include "core/bytes/base64.h"
#include "core/errors.h"
#include "spawn/posix/connect_request.h"
#include "spawn/wire/handed.h"

namespace sallyport::spawn::posix {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kUser = "sallyport";
constexpr std::size_t kLongestHead = 8192;
constexpr std::uint16_t kDnsPort = 53;
// How long one step of a client may take. Other clients wait meanwhile.
constexpr std::chrono::seconds kPatience{5};

bool set_up(int fd) { return ::fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && ::fcntl(fd, F_SETFL, O_NONBLOCK) == 0; }

struct Pair {
  UniqueFd first;
  UniqueFd second;
};

Result<Pair> make_pair_of(int type) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, type, 0, ends.data()) != 0) return fail(system_error("create", "a socket pair", errno));
  Pair pair{.first = UniqueFd(ends[0]), .second = UniqueFd(ends[1])};
  if (!set_up(ends[0]) || !set_up(ends[1])) return fail(system_error("set up", "a socket", errno));
  return pair;
}

// Serves one client after the other until the stop descriptor is closed.
class Server {
 public:
  Server(int listener, int stop, UniqueFd owner, std::string credentials)
      : listener_(listener), stop_(stop), owner_(std::move(owner)), credentials_(std::move(credentials)) {}

  void run() {
    while (wait_for(listener_, POLLIN, std::nullopt)) {
      UniqueFd client(::accept(listener_, nullptr, nullptr));
      if (client && set_up(client.get())) serve(std::move(client));
    }
  }

 private:
  void serve(UniqueFd client) {
    const std::string head = read_head(client.get());
    if (head.empty()) return;
    const ConnectRequest request = parse_connect(head, credentials_);
    if (!request.refusal.empty()) return answer(client.get(), request.refusal);
    wire::Handed wanted{};
    wanted.port = request.port;
    if (!find(request.host, wanted)) return answer(client.get(), "403 Forbidden");
    // Answer before the owner has the connection: the server's bytes must come after this answer.
    answer(client.get(), "200 Connection Established");
    static_cast<void>(hand_over(wanted, client));
  }

  // False when the thread must stop, or the time is up.
  [[nodiscard]] bool wait_for(int fd, short events, std::optional<Clock::time_point> until) const {
    for (;;) {
      std::array<pollfd, 2> watched = {{{fd, events, 0}, {stop_, POLLIN, 0}}};
      int timeout = -1;
      if (until) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - Clock::now()).count();
        if (left <= 0) return false;
        timeout = static_cast<int>(left);
      }
      const int ready = ::poll(watched.data(), watched.size(), timeout);
      if (ready < 0 && errno != EINTR) return false;
      if (watched[1].revents != 0 && ready > 0) return false;
      if (ready > 0) return true;
    }
  }

  // Reads up to the empty line. Empty when there is none, or when bytes follow it: a client must wait for its answer.
  [[nodiscard]] std::string read_head(int client) const {
    const Clock::time_point until = Clock::now() + kPatience;
    std::string head;
    std::array<char, 1024> part{};
    while (head.size() < kLongestHead && wait_for(client, POLLIN, until)) {
      const ssize_t got = ::recv(client, part.data(), part.size(), 0);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got <= 0) return {};
      head.append(part.data(), static_cast<std::size_t>(got));
      const std::size_t end = head.find("\r\n\r\n");
      if (end != std::string::npos) return end + 4 == head.size() ? head : std::string();
    }
    return {};
  }

  // An answer fits into an empty buffer; a client that does not read gets none.
  static void answer(int client, std::string_view status) {
    const bool refused = !status.starts_with("200");
    const std::string text = fmt::format("HTTP/1.1 {}\r\n{}\r\n", status, refused ? "Content-Length: 0\r\n" : "");
    static_cast<void>(!::write(client, text.data(), text.size()));
  }

  // Asks the owner for a name's address; an address is used as it is.
  [[nodiscard]] bool find(const std::string& host, wire::Handed& wanted) {
    if (::inet_pton(AF_INET, host.c_str(), wanted.address) == 1) return true;
    if (::inet_pton(AF_INET6, host.c_str(), wanted.address) == 1) {
      wanted.is_ipv6 = 1;
      return true;
    }
    const std::string question = dns_question(host);
    if (question.empty()) return false;
    const std::optional<std::string> address = address_in(ask(question), question);
    if (address) std::memcpy(wanted.address, address->data(), address->size());
    return address.has_value();
  }

  // The owner's answer to a DNS question, over a connection that we hand over like the tool's own.
  [[nodiscard]] std::string ask(std::string_view question) {
    Result<Pair> pair = make_pair_of(SOCK_STREAM);
    if (!pair) return {};
    wire::Handed wanted{};
    wanted.port = kDnsPort;
    if (!hand_over(wanted, pair->second)) return {};
    pair->second.reset();
    const std::string framed =
        std::string{static_cast<char>(question.size() >> 8U), static_cast<char>(question.size())} +
        std::string(question);
    if (::write(pair->first.get(), framed.data(), framed.size()) != std::ssize(framed)) return {};
    const Clock::time_point until = Clock::now() + kPatience;
    std::string answer;
    std::array<char, 1024> part{};
    while (wait_for(pair->first.get(), POLLIN, until)) {
      const ssize_t got = ::recv(pair->first.get(), part.data(), part.size(), 0);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got <= 0) return {};
      answer.append(part.data(), static_cast<std::size_t>(got));
      if (answer.size() < 2) continue;
      const std::size_t size = static_cast<unsigned char>(answer[0]) * 256U + static_cast<unsigned char>(answer[1]);
      if (answer.size() >= size + 2) return answer.substr(2, size);
    }
    return {};
  }

  // True when the owner let the connection in. The owner then has a descriptor of its own.
  [[nodiscard]] bool hand_over(wire::Handed& wanted, const UniqueFd& connection) {
    wanted.number = ++number_;
    iovec part{&wanted, sizeof wanted};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> passed{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = passed.data();
    message.msg_controllen = passed.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int fd = connection.get();
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    if (::sendmsg(owner_.get(), &message, 0) != sizeof wanted) return false;
    const Clock::time_point until = Clock::now() + kPatience;
    while (wait_for(owner_.get(), POLLIN, until)) {
      wire::HandedAnswer said{};
      const ssize_t got = ::recv(owner_.get(), &said, sizeof said, 0);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got != sizeof said) return false;
      if (said.number == wanted.number) return said.is_let_in != 0;  // skip late answers to earlier questions
    }
    return false;
  }

  const int listener_;
  const int stop_;
  UniqueFd owner_;
  const std::string credentials_;
  std::uint32_t number_ = 0;
};

}  // namespace

Result<std::unique_ptr<ConnectProxy>> ConnectProxy::open() {
  UniqueFd listener(::socket(AF_INET, SOCK_STREAM, 0));
  if (!listener || !set_up(listener.get())) return fail(system_error("create", "a socket", errno));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener.get(), any, size) != 0 || ::listen(listener.get(), SOMAXCONN) != 0 ||
      ::getsockname(listener.get(), any, &size) != 0) {
    return fail(system_error("listen on", "loopback", errno));
  }
  std::random_device random;
  std::string secret;
  for (int i = 0; i < 4; ++i) secret += fmt::format("{:08x}", random());
  return std::make_unique<ConnectProxy>(std::move(listener), ntohs(address.sin_port), std::move(secret));
}

std::string ConnectProxy::url() const { return fmt::format("http://{}:{}@127.0.0.1:{}", kUser, secret_, port_); }

Result<UniqueFd> ConnectProxy::serve() {
  // Datagrams keep message boundaries, also where there is no SOCK_SEQPACKET.
  Pair ends = TRY(make_pair_of(SOCK_DGRAM));
  Pair stop = TRY(make_pair_of(SOCK_STREAM));
  stop_ = std::move(stop.first);
  stopping_ = std::move(stop.second);
  sigset_t all{};
  sigset_t before{};
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // the thread handles none of the caller's signals, nor SIGPIPE
  thread_ =
      std::thread([server = std::make_shared<Server>(listener_.get(), stopping_.get(), std::move(ends.second),
                                                     base64(fmt::format("{}:{}", kUser, secret_)))] { server->run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return std::move(ends.first);
}

ConnectProxy::~ConnectProxy() {
  stop_.reset();
  if (thread_.joinable()) thread_.join();
}

}  // namespace sallyport::spawn::posix
