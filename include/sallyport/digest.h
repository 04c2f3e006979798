// SHA-256 and SHA-512 as lower-case hex digits: to name data without showing it, or to check that it is the named data.
// Defined in core/bytes. No errors: the process aborts if hashing fails. docs/contract.md calls these digests (C26,
// C33).
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace sallyport {

[[nodiscard]] std::string sha256_hex(std::string_view bytes);

// In pieces, for data that is too large to hold: package managers name tarballs by SHA-512.
class Sha512 {
 public:
  Sha512();
  Sha512(Sha512&&) noexcept;
  Sha512& operator=(Sha512&&) noexcept;
  ~Sha512();

  void update(std::string_view bytes);
  [[nodiscard]] std::string hex() &&;  // 128 digits

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace sallyport
