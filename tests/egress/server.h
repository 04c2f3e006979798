// The test's web server on the host's loopback, plain or TLS, which records whatever reaches it.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace sallyport::test {

// A certificate for some names that is its own authority, made by the openssl program.
struct Certificate {
  std::filesystem::path certificate;
  std::filesystem::path key;
  // "DNS:a.test,DNS:b.test"
  [[nodiscard]] static Certificate make(const std::filesystem::path& dir, const std::string& names);
};

// One connection, whatever is spoken below.
class Talk {
 public:
  virtual ~Talk() = default;
  virtual long read(char* into, std::size_t most) = 0;  // 0: the end, negative: broken
  virtual bool write(std::string_view bytes) = 0;       // all of it
};

class Server {
 public:
  using Serve = std::function<void(Talk&)>;

  // Each connection is served in a thread of its own; with a certificate after the handshake.
  explicit Server(Serve serve, const std::optional<Certificate>& certificate = std::nullopt);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string target() const { return "127.0.0.1:" + std::to_string(port_); }
  // Keeps this side's send buffers small, so that data that a peer does not read waits on the peer's side. For connections from
  // now on.
  void keep_little_unsent() const;
  // How many connections have ever been made, handshake or not.
  [[nodiscard]] int heard() const { return heard_; }

 private:
  void accept_all();
  void serve_one(int fd);

  Serve serve_;
  std::shared_ptr<void> tls_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> heard_ = 0;
  std::atomic<bool> closing_ = false;
  std::vector<int> open_;
  std::vector<std::jthread> talks_;
  std::jthread accepting_;
};

// Up to and including the empty line; empty when the client left before.
[[nodiscard]] std::string read_head(Talk& talk);

// GET and HEAD of the files below `root`, one request for each connection.
[[nodiscard]] Server::Serve files_below(std::filesystem::path root);

}  // namespace sallyport::test
