// SHA-256 as lower-case hex.
//
//   Sha256 hasher;
//   hasher.update(first); hasher.update(second);
//   std::string hex = std::move(hasher).hex();
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "sallyport/digest.h"

namespace sallyport {

inline constexpr std::size_t kSha256Bytes = 32;
using Sha256Digest = std::array<unsigned char, kSha256Bytes>;

class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  void update(std::string_view bytes);
  [[nodiscard]] std::string hex() &&;
  [[nodiscard]] Sha256Digest digest() &&;

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// 64 lower-case hex digits.
[[nodiscard]] bool is_sha256_hex(std::string_view text);

}  // namespace sallyport
