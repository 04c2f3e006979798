// Finds secrets in a stream whatever a careless program has done to them on their way into a page, a log line or a JSON text:
// letters in the other case, percent signs (also twice), backslashes, HTML's entities, each character by itself.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sallyport {

// The secret as base64 writes it inside something longer, at each of the three places it can stand, in both alphabets; and in
// hexadecimal digits. For a SecretSearch, besides the secret itself.
[[nodiscard]] std::vector<std::string> encodings_of(std::string_view secret);

class SecretSearch {
 public:
  explicit SecretSearch(std::vector<std::string> secrets);

  [[nodiscard]] bool holds(std::string_view text) const { return look(text).found; }

  struct Seen {
    bool found = false;
    std::size_t clean = 0;  // bytes that belong to no secret, whatever follows
  };
  [[nodiscard]] Seen look(std::string_view text) const;

 private:
  std::vector<std::string> secrets_;
  std::array<bool, 256> starts_{};  // bytes that a spelling of some secret begins with
};

}  // namespace sallyport
