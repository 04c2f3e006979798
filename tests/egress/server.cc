#include "egress/server.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>

#include "support/program.h"
#include "support/temp_dir.h"

namespace sallyport::test {
namespace {

namespace fs = std::filesystem;

constexpr int kBacklog = 1024;

class PlainTalk final : public Talk {
 public:
  explicit PlainTalk(int fd) : fd_(fd) {}
  long read(char* into, std::size_t most) override { return ::recv(fd_, into, most, 0); }
  bool write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t put = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (put <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
  }

 private:
  int fd_;
};

class TlsTalk final : public Talk {
 public:
  TlsTalk(SSL_CTX* context, int fd) : ssl_(SSL_new(context)) { SSL_set_fd(ssl_, fd); }
  TlsTalk(const TlsTalk&) = delete;
  TlsTalk& operator=(const TlsTalk&) = delete;
  ~TlsTalk() override {
    SSL_shutdown(ssl_);
    SSL_free(ssl_);
  }
  bool greet() { return SSL_accept(ssl_) == 1; }
  long read(char* into, std::size_t most) override { return SSL_read(ssl_, into, static_cast<int>(most)); }
  bool write(std::string_view bytes) override {
    return bytes.empty() || SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())) > 0;
  }

 private:
  SSL* ssl_;
};

std::shared_ptr<void> tls_context(const Certificate& certificate) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  const bool usable =
      SSL_CTX_use_certificate_file(context.get(), certificate.certificate.c_str(), SSL_FILETYPE_PEM) == 1 &&
      SSL_CTX_use_PrivateKey_file(context.get(), certificate.key.c_str(), SSL_FILETYPE_PEM) == 1;
  EXPECT_TRUE(usable) << certificate.certificate;
  return context;
}

}  // namespace

Certificate Certificate::make(const fs::path& dir, const std::string& names) {
  Certificate made{.certificate = dir / "cert.pem", .key = dir / "key.pem"};
  const ProgramResult result =
      run_program({"/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                   "-nodes", "-days", "2", "-subj", "/CN=made for a test", "-addext", "subjectAltName=" + names, "-out",
                   made.certificate.string(), "-keyout", made.key.string()});
  EXPECT_EQ(result.exit_code, 0) << result.stderr_bytes;
  return made;
}

Server::Server(Serve serve, const std::optional<Certificate>& certificate)
    : serve_(std::move(serve)), tls_(certificate ? tls_context(*certificate) : nullptr) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  const bool listening = ::bind(listener_, generic, size) == 0 && ::listen(listener_, kBacklog) == 0 &&
                         ::getsockname(listener_, generic, &size) == 0;
  EXPECT_TRUE(listening);
  port_ = ntohs(address.sin_port);
  accepting_ = std::jthread([this] { accept_all(); });
}

Server::~Server() {
  closing_ = true;
  ::shutdown(listener_, SHUT_RDWR);  // wakes the accepting thread
  accepting_.join();
  for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  talks_.clear();
  for (const int fd : open_) ::close(fd);
  ::close(listener_);
}

void Server::keep_little_unsent() const {
  constexpr int kLittle = 4096;
  ::setsockopt(listener_, SOL_SOCKET, SO_SNDBUF, &kLittle, sizeof kLittle);  // what is accepted inherits it
}

void Server::accept_all() {
  while (true) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0 && closing_) return;
    if (fd < 0) continue;
    ++heard_;
    open_.push_back(fd);
    talks_.emplace_back([this, fd] {
      serve_one(fd);
      ::shutdown(fd, SHUT_RDWR);
    });
  }
}

void Server::serve_one(int fd) {
  if (tls_ == nullptr) {
    PlainTalk talk(fd);
    return serve_(talk);
  }
  TlsTalk talk(static_cast<SSL_CTX*>(tls_.get()), fd);
  if (talk.greet()) serve_(talk);
}

std::string read_head(Talk& talk) {
  std::string head;
  char byte = 0;
  while (!head.ends_with("\r\n\r\n")) {
    if (talk.read(&byte, 1) != 1) return {};
    head += byte;
  }
  return head;
}

Server::Serve files_below(fs::path root) {
  return [root = std::move(root)](Talk& talk) {
    const std::string head = read_head(talk);
    const std::size_t from = head.find(' ') + 1;
    const std::string path = head.substr(from, head.find_first_of(" ?", from) - from);
    const bool found =
        path.starts_with('/') && path.find("..") == std::string::npos && fs::is_regular_file(root / path.substr(1));
    const std::string body = found ? read_file(root / path.substr(1)) : "";
    talk.write((found ? "HTTP/1.1 200 OK" : "HTTP/1.1 404 Not Found") +
               std::string("\r\nConnection: close\r\nContent-Length: ") + std::to_string(body.size()) + "\r\n\r\n");
    if (!head.starts_with("HEAD")) talk.write(body);
  };
}

}  // namespace sallyport::test
