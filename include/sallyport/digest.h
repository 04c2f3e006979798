// SHA-256 and SHA-512 as lower-case hex digits: for whoever must name a thing without showing it, or check that it is the
// one that was named. Defined in core/bytes.
// No error to act on: the process ends if the library fails to hash. Used for what docs/contract.md calls a digest (C26, C33).
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace sallyport {

[[nodiscard]] std::string sha256_hex(std::string_view bytes);

// In pieces, for what is too large to hold: package managers name tarballs by this one.
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
