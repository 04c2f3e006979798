// Parses just enough of a URL to find its host. An unusual URL gives no host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sallyport::jobs {

struct WebPlace {
  bool is_https = false;
  std::string host{};  // lower case
  std::uint16_t port = 0;
  bool operator==(const WebPlace&) const = default;
};

// "https://host[:port]/…". Nothing for another scheme, user names, brackets, backslashes, or any byte that a host name does
// not have: readers of URLs disagree about those.
[[nodiscard]] std::optional<WebPlace> web_place(std::string_view url);

// host, or host:port where the scheme's own port is not meant.
[[nodiscard]] std::string place_text(const WebPlace& place);

enum class SourceKind { kNone, kRegistry, kUrl, kGit, kLocal };
// What a `resolved` text or a dependency's range points to: "git+ssh://…", "user/repo", "https://…", "file:…". A range or a
// tag is kRegistry; an empty text kNone.
[[nodiscard]] SourceKind source_of(std::string_view spec);

}  // namespace sallyport::jobs
