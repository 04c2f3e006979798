// What the owner's own TLS connections share: to the operator's proxy, and to a registry with credentials. We never
// decrypt the tools' own TLS. TLS 1.2 or later; the peer's certificate must be for the name and be signed by one of the
// given ones. Configuration files and environment variables have no effect.
#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport {

struct TlsFree {
  void operator()(SSL_CTX* context) const;
  void operator()(SSL* connection) const;
};
using TlsConnection = std::unique_ptr<SSL, TlsFree>;

class TlsContext {
 public:
  // `trusted`: certificates in PEM, read when the first connection is made.
  explicit TlsContext(std::string trusted) : trusted_(std::move(trusted)) {}

  // The client's end of a TLS connection over `socket`, which it borrows. `name`: a host name, or an IP address.
  [[nodiscard]] Result<TlsConnection> connect_over(int socket, const std::string& name);

 private:
  [[nodiscard]] Status make_context();

  std::string trusted_;
  std::unique_ptr<SSL_CTX, TlsFree> context_{};
};

// Says why the last call failed, or why a certificate was refused.
[[nodiscard]] std::string tls_problem(const SSL* connection);

}  // namespace sallyport
