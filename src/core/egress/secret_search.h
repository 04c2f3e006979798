// Finds secrets in a stream, even if a careless program has encoded them for a page, a log line or a JSON text: letters
// in the other case, percent signs (also twice), backslashes, HTML entities, each character independently.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sallyport {

// The secret in base64 inside a longer text, at each of its three alignments, in both alphabets; and in hexadecimal
// digits. Give these to a SecretSearch, besides the secret itself.
[[nodiscard]] std::vector<std::string> encodings_of(std::string_view secret);

class SecretSearch {
 public:
  explicit SecretSearch(std::vector<std::string> secrets);

  [[nodiscard]] bool holds(std::string_view text) const { return look(text).found; }

  struct Seen {
    bool found = false;
    std::size_t clean = 0;  // bytes that are no part of a secret, whatever follows
  };
  [[nodiscard]] Seen look(std::string_view text) const;

 private:
  std::vector<std::string> secrets_;
  std::array<bool, 256> starts_{};  // the first bytes of any spelling of a secret
};

}  // namespace sallyport
