#define OPENSSL_SUPPRESS_DEPRECATED  // for the reason that sha256.cc gives
#include "core/bytes/git_object.h"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <array>

#include "core/bytes/hex.h"
#include "core/bytes/sha256.h"

namespace sallyport {
namespace {

constexpr std::size_t kSha1Digits = 40;
constexpr std::size_t kSha256Digits = 64;

std::string sha1_hex(std::string_view bytes) {
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  ::SHA1(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return hex_of(digest);
}

}  // namespace

std::optional<std::string> tree_of_commit(std::string_view id, std::string_view content) {
  constexpr std::string_view kTree = "tree ";
  if (id.size() != kSha1Digits && id.size() != kSha256Digits) return std::nullopt;
  std::string object = fmt::format("commit {}", content.size());
  object += '\0';
  object += content;
  if ((id.size() == kSha1Digits ? sha1_hex(object) : sha256_hex(object)) != id) return std::nullopt;
  // A commit begins with its tree; git writes no other order.
  if (!content.starts_with(kTree) || content.size() <= kTree.size() + id.size()) return std::nullopt;
  const std::string_view tree = content.substr(kTree.size(), id.size());
  if (content[kTree.size() + id.size()] != '\n' ||
      tree.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    return std::nullopt;
  }
  return std::string(tree);
}

}  // namespace sallyport
