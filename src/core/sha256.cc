#include "core/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <cstdlib>
#include <utility>

namespace sallyport {

struct Sha256::Context {
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> evp{EVP_MD_CTX_new()};
};

namespace {

// libcrypto fails here only without memory or without its own default provider. A digest that is quietly wrong would be
// worse than no process: it is what a pinned binary is compared by.
void must(bool ok) {
  if (!ok) std::abort();
}

}  // namespace

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  must(context_->evp != nullptr && EVP_DigestInit_ex(context_->evp.get(), EVP_sha256(), nullptr) == 1);
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
  must(EVP_DigestUpdate(context_->evp.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::hex() && {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  must(EVP_DigestFinal_ex(context_->evp.get(), digest.data(), &length) == 1);
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * static_cast<std::size_t>(length));
  for (unsigned i = 0; i < length; ++i) {
    text += kDigits[digest[i] >> 4];
    text += kDigits[digest[i] & 0x0FU];
  }
  return text;
}

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
