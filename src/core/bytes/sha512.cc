// Uses the low-level functions, for the reason given in sha256.cc.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <array>
#include <cstdlib>

#include "core/bytes/hex.h"
#include "sallyport/digest.h"

namespace sallyport {

struct Sha512::Context {
  SHA512_CTX state{};
};

Sha512::Sha512() : context_(std::make_unique<Context>()) {
  if (SHA512_Init(&context_->state) != 1) std::abort();
}
Sha512::Sha512(Sha512&&) noexcept = default;
Sha512& Sha512::operator=(Sha512&&) noexcept = default;
Sha512::~Sha512() = default;

void Sha512::update(std::string_view bytes) {
  if (SHA512_Update(&context_->state, bytes.data(), bytes.size()) != 1) std::abort();
}

std::string Sha512::hex() && {
  std::array<unsigned char, SHA512_DIGEST_LENGTH> digest{};
  if (SHA512_Final(digest.data(), &context_->state) != 1) std::abort();
  return hex_of(digest);
}

}  // namespace sallyport
