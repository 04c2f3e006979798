// A real TLS server with two names, one of them allowed: a client asks for the other one in a second hello, which the
// server has asked for (HelloRetryRequest) and believes (C24). The server is OpenSSL, as `openssl s_server -servername`
// would be; what it heard is its own account.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <mutex>
#include <thread>

#include "egress/egress_fixture.h"
#include "egress/server.h"

namespace sallyport::test {
namespace {

constexpr int kServerPatience = 20;

// Accepts only P-384, which no client offers a key for at first, and writes down every name it is greeted with.
class RetryingServer {
 public:
  explicit RetryingServer(const Certificate& certificate) : context_(SSL_CTX_new(TLS_server_method())) {
    EXPECT_EQ(SSL_CTX_use_certificate_file(context_, certificate.certificate.c_str(), SSL_FILETYPE_PEM), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey_file(context_, certificate.key.c_str(), SSL_FILETYPE_PEM), 1);
    EXPECT_EQ(SSL_CTX_set1_groups_list(context_, "P-384"), 1);
    // Not by OpenSSL's macro of that name, which casts in the old style.
    SSL_CTX_set_tlsext_servername_arg(context_, this);
    SSL_CTX_callback_ctrl(context_, SSL_CTRL_SET_TLSEXT_SERVERNAME_CB, reinterpret_cast<void (*)()>(&note_name));
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_, generic, size), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    EXPECT_EQ(::getsockname(listener_, generic, &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this] { accept_all(); });
  }
  RetryingServer(const RetryingServer&) = delete;
  RetryingServer& operator=(const RetryingServer&) = delete;
  ~RetryingServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
    SSL_CTX_free(context_);
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::vector<std::string> take_names() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(names_, {});
  }

 private:
  static int note_name(SSL* ssl, int* /*alert*/, void* self) {
    const char* const name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    static_cast<RetryingServer*>(self)->greeted(name == nullptr ? "" : name);
    return SSL_TLSEXT_ERR_OK;
  }
  void greeted(std::string name) {
    const std::scoped_lock lock(mutex_);
    names_.push_back(std::move(name));
  }
  void accept_all() {
    for (int fd = -1; (fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      const timeval patience{.tv_sec = kServerPatience, .tv_usec = 0};
      ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      SSL* const ssl = SSL_new(context_);
      SSL_set_fd(ssl, fd);
      if (SSL_accept(ssl) == 1) {
        SSL_write(ssl, "welcome\n", 8);
        SSL_shutdown(ssl);
      }
      SSL_free(ssl);
      ::close(fd);
    }
  }

  SSL_CTX* context_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::vector<std::string> names_;
  std::jthread thread_;
};

class HelloRetry : public testing::TestWithParam<std::string_view> {
 protected:
  HelloRetry() : site_(Who::kUser), certificate_(Certificate::make(site_.dir().path(), "DNS:good.test,DNS:evil.test")) {
    std::signal(SIGPIPE, SIG_IGN);
    site_.put("retry_client.py", read_file(SALLYPORT_TEST_RETRY_CLIENT));
  }
  nlohmann::json greet(JailKind jail, const Words& options, const RetryingServer& server, const std::string& second) {
    // Without a jail the allowed name is that of the host itself.
    const bool jailed = jail != JailKind::kNone;
    return site_.run(jail, options,
                     {"python3", "retry_client.py", jailed ? "good.test" : "localhost",
                      jailed ? "443" : std::to_string(server.port()), second, std::string(GetParam())});
  }
  Site site_;
  Certificate certificate_;
};

TEST_P(HelloRetry, CannotNameAnotherHost_C24) {
  RetryingServer server(certificate_);
  // The control: without a jail the second name is heard and answered.
  const nlohmann::json bare = greet(JailKind::kNone, {}, server, "evil.test");
  ASSERT_NE(bare.value("stdout", "").find("retry: True"), std::string::npos) << bare;
  ASSERT_EQ(server.take_names(), (std::vector<std::string>{"localhost", "evil.test"})) << bare;

  const Words allowed = {"--allow-host", "good.test=127.0.0.1:" + std::to_string(server.port())};
  const nlohmann::json record = greet(JailKind::kNative, allowed, server, "evil.test");
  EXPECT_NE(record.value("stdout", "").find("retry: True"), std::string::npos) << record;
  EXPECT_EQ(server.take_names(), std::vector<std::string>{"good.test"}) << "the server heard another name";
  ASSERT_EQ(record["denials"].size(), 1U) << record;
  EXPECT_EQ(record["denials"][0]["host"], "evil.test") << record;
  EXPECT_EQ(record["denials"][0]["reason"], "server name differs") << record;

  // The same between two hellos with the allowed name goes through.
  const nlohmann::json honest = greet(JailKind::kNative, allowed, server, "good.test");
  EXPECT_EQ(server.take_names(), (std::vector<std::string>{"good.test", "good.test"})) << honest;
  EXPECT_TRUE(honest["denials"].empty()) << honest;
}

INSTANTIATE_TEST_SUITE_P(, HelloRetry,
                         testing::Values("nothing", "alert", "alerts", "change_cipher_spec",
                                         "alert_and_change_cipher_spec", "fragments", "old_version", "by_bytes"),
                         [](const auto& test) { return std::string(test.param); });

// Real handshakes in every form that a server can ask for.
class RealHandshake : public testing::Test {
 protected:
  RealHandshake()
      : site_(Who::kUser), certificate_(Certificate::make(site_.dir().path(), "DNS:good.test,DNS:evil.test")) {
    std::signal(SIGPIPE, SIG_IGN);
    site_.put("cert.pem", read_file(certificate_.certificate));
  }
  Site site_;
  Certificate certificate_;
};

TEST_F(RealHandshake, PassesWithARetryAndWithTls12_C24) {
  RetryingServer server(certificate_);
  const Words allowed = {"--allow-host", "good.test=127.0.0.1:" + std::to_string(server.port())};
  // Twice with one context and its session: the second is a resumed one.
  constexpr std::string_view kClient =
      "import socket, ssl, sys\n"
      "context = ssl.create_default_context(cafile='cert.pem')\n"
      "context.maximum_version = context.minimum_version = getattr(ssl.TLSVersion, sys.argv[1])\n"
      "session = None\n"
      "for _ in range(2):\n"
      "    plain = socket.create_connection(('good.test', 443), timeout=20)\n"
      "    with context.wrap_socket(plain, server_hostname='good.test', session=session) as tls:\n"
      "        print(tls.version(), tls.read(100), tls.session_reused)\n"
      "        session = tls.session\n";
  for (const std::string version : {"TLSv1_2", "TLSv1_3"}) {
    const nlohmann::json record =
        site_.run(JailKind::kNative, allowed, {"python3", "-c", std::string(kClient), version});
    EXPECT_TRUE(record["denials"].empty()) << record;
    EXPECT_EQ(record.value("exit_code", -1), 0) << record;
    const std::string output = record.value("stdout", "");
    EXPECT_NE(output.find("b'welcome\\n' False"), std::string::npos) << record;
    EXPECT_NE(output.find("b'welcome\\n' True"), std::string::npos) << record;
  }
}

}  // namespace
}  // namespace sallyport::test
