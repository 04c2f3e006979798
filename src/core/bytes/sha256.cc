// Uses the low-level functions on purpose: the first EVP call loads providers and reads a configuration file, which
// costs about a millisecond and dozens of system calls; a short run should be over by then. Linked statically, the
// low-level functions are pure code without any initialisation.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "core/bytes/sha256.h"

#include <openssl/sha.h>

#include <cstdlib>
#include <utility>

#include "core/bytes/hex.h"

namespace sallyport {

struct Sha256::Context {
  SHA256_CTX state{};
};

namespace {

// These calls cannot fail. If one did, abort: we compare pinned binaries by digest, so a wrong digest would be worse
// than no process.
void must(bool ok) {
  if (!ok) std::abort();
}

}  // namespace

Sha256::Sha256() : context_(std::make_unique<Context>()) { must(SHA256_Init(&context_->state) == 1); }
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) { must(SHA256_Update(&context_->state, bytes.data(), bytes.size()) == 1); }

Sha256Digest Sha256::digest() && {
  Sha256Digest digest{};
  must(SHA256_Final(digest.data(), &context_->state) == 1);
  return digest;
}

std::string Sha256::hex() && { return hex_of(std::move(*this).digest()); }

std::string sha256_hex(std::string_view bytes) {
  Sha256 hasher;
  hasher.update(bytes);
  return std::move(hasher).hex();
}

bool is_sha256_hex(std::string_view text) {
  constexpr std::size_t kHexDigits = 64;
  if (text.size() != kHexDigits) return false;
  for (const char c : text) {
    const bool is_hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    if (!is_hex) return false;
  }
  return true;
}

}  // namespace sallyport
