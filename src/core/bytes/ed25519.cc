#include "core/bytes/ed25519.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <cstddef>
#include <memory>

namespace sallyport {
namespace {

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Key = std::unique_ptr<EVP_PKEY, FreeKey>;
using SigningContext = std::unique_ptr<EVP_MD_CTX, FreeContext>;

const unsigned char* octets(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());  // NOLINT(*-reinterpret-cast): OpenSSL's type for bytes
}

// The machine's OpenSSL configuration must not decide how we sign.
void without_configuration() { OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr); }

Key private_key(std::string_view seed) {
  if (seed.size() != kEd25519KeyBytes) return nullptr;
  without_configuration();
  return Key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, octets(seed), seed.size()));
}

}  // namespace

std::optional<std::string> ed25519_public_key(std::string_view seed) {
  const Key key = private_key(seed);
  std::string out(kEd25519KeyBytes, '\0');
  std::size_t size = out.size();
  auto* const to = reinterpret_cast<unsigned char*>(out.data());  // NOLINT(*-reinterpret-cast): likewise
  if (key == nullptr || EVP_PKEY_get_raw_public_key(key.get(), to, &size) != 1) return std::nullopt;
  return out;
}

std::optional<std::string> ed25519_sign(std::string_view seed, std::string_view message) {
  const Key key = private_key(seed);
  const SigningContext context(EVP_MD_CTX_new());
  if (key == nullptr || context == nullptr) return std::nullopt;
  std::string out(kEd25519SignatureBytes, '\0');
  std::size_t size = out.size();
  auto* const to = reinterpret_cast<unsigned char*>(out.data());  // NOLINT(*-reinterpret-cast): likewise
  if (EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1) return std::nullopt;
  if (EVP_DigestSign(context.get(), to, &size, octets(message), message.size()) != 1) return std::nullopt;
  return out;
}

bool ed25519_verify(std::string_view public_key, std::string_view message, std::string_view signature) {
  if (public_key.size() != kEd25519KeyBytes || signature.size() != kEd25519SignatureBytes) return false;
  without_configuration();
  const Key key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, octets(public_key), public_key.size()));
  const SigningContext context(EVP_MD_CTX_new());
  if (key == nullptr || context == nullptr) return false;
  return EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), octets(signature), signature.size(), octets(message), message.size()) == 1;
}

}  // namespace sallyport
