#include "egress/tls_context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cerrno>

#include "core/egress/ip_address.h"
#include "core/errors.h"

namespace sallyport {
namespace {

struct BioFree {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct CertificateFree {
  void operator()(X509* certificate) const { X509_free(certificate); }
};

Error tls_error(std::string_view what) { return system_error("set up TLS", what, EPROTO); }

// Returns how many certificates it read.
int trust(SSL_CTX& context, const std::string& pem) {
  const std::unique_ptr<BIO, BioFree> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  int count = 0;
  while (bio) {
    const std::unique_ptr<X509, CertificateFree> one(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (!one) break;
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(&context), one.get()) == 1) ++count;
  }
  ERR_clear_error();
  return count;
}

}  // namespace

void TlsFree::operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
void TlsFree::operator()(SSL* connection) const { SSL_free(connection); }

Status TlsContext::make_context() {
  if (context_) return {};
  OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, nullptr);
  std::unique_ptr<SSL_CTX, TlsFree> context(SSL_CTX_new(TLS_client_method()));
  if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1) {
    return fail(tls_error("a client"));
  }
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  // A peer that closes without close_notify counts as a plain end of the stream: HTTP's own lengths show whether the
  // message is complete.
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  if (trust(*context, trusted_) == 0) return fail(tls_error("the certificates to trust: there are none"));
  std::string().swap(trusted_);
  context_ = std::move(context);
  return {};
}

Result<TlsConnection> TlsContext::connect_over(int socket, const std::string& name) {
  TRY(make_context());
  TlsConnection connection(SSL_new(context_.get()));
  if (!connection || SSL_set_fd(connection.get(), socket) != 1) return fail(tls_error("a connection"));
  X509_VERIFY_PARAM* const parameters = SSL_get0_param(connection.get());
  if (parse_ip_address(name)) {
    if (X509_VERIFY_PARAM_set1_ip_asc(parameters, name.c_str()) != 1) return fail(tls_error("the peer's address"));
  } else {
    X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    const bool named = X509_VERIFY_PARAM_set1_host(parameters, name.c_str(), name.size()) == 1 &&
                       SSL_ctrl(connection.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                                const_cast<char*>(name.c_str())) == 1;  // what the corresponding macro does
    if (!named) return fail(tls_error("the peer's name"));
  }
  SSL_set_connect_state(connection.get());
  return connection;
}

std::string tls_problem(const SSL* connection) {
  const long verdict = SSL_get_verify_result(connection);
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  if (verdict != X509_V_OK) {
    return std::string("its certificate is not trusted: ") + X509_verify_cert_error_string(verdict);
  }
  const char* const reason = error == 0 ? nullptr : ERR_reason_error_string(error);
  return std::string("TLS fails: ") + (reason == nullptr ? "the connection ended" : reason);
}

}  // namespace sallyport
