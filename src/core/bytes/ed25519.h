// Ed25519 (RFC 8032) over byte strings. Pure: no randomness; a key pair is its 32-byte seed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sallyport {

inline constexpr std::size_t kEd25519KeyBytes = 32;
inline constexpr std::size_t kEd25519SignatureBytes = 64;

// nullopt when the seed does not have 32 bytes.
[[nodiscard]] std::optional<std::string> ed25519_public_key(std::string_view seed);
[[nodiscard]] std::optional<std::string> ed25519_sign(std::string_view seed, std::string_view message);
[[nodiscard]] bool ed25519_verify(std::string_view public_key, std::string_view message, std::string_view signature);

}  // namespace sallyport
