// Subresource Integrity as lock files write it, and where npm's cache (cacache) keeps the content of a hash.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sallyport::jobs {

// The SHA-512 of an integrity text ("sha1-… sha512-…?opt") as 128 lower-case hex digits. nullopt when it names none, a
// malformed one, or two different ones.
[[nodiscard]] std::optional<std::string> sha512_of(std::string_view integrity);

// "content-v2/sha512/ab/cd/…" for such digits.
[[nodiscard]] std::string content_path(std::string_view sha512_hex);

}  // namespace sallyport::jobs
