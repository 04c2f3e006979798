#include "jobs/validate/url.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace sallyport::jobs {
namespace {

constexpr std::uint16_t kHttps = 443;
constexpr std::uint16_t kHttp = 80;

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr bool is_host_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

bool starts_with_nocase(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::ranges::equal(text.substr(0, prefix.size()), prefix, {}, [](char c) { return lower(c); });
}

// Hosts npm knows by a short name, and the schemes it hands to git.
constexpr auto kGitPrefixes =
    std::to_array<std::string_view>({"git+", "git:", "git@", "ssh:", "github:", "gitlab:", "bitbucket:", "gist:"});

// "user/repo", which npm takes for a repository; "@scope/name" and paths are none.
bool is_user_and_repo(std::string_view spec) {
  if (spec.starts_with('@') || spec.starts_with('.') || spec.starts_with('/') || spec.starts_with('~')) return false;
  const std::size_t slash = spec.find('/');
  return slash != std::string_view::npos && slash > 0 && spec.find_first_of(" <>=|^") == std::string_view::npos;
}

}  // namespace

std::optional<WebPlace> web_place(std::string_view url) {
  WebPlace place;
  if (starts_with_nocase(url, "https://")) {
    place.is_https = true;
    url.remove_prefix(8);
  } else if (starts_with_nocase(url, "http://")) {
    url.remove_prefix(7);
  } else {
    return std::nullopt;
  }
  const std::string_view authority = url.substr(0, url.find_first_of("/?#"));
  const std::size_t colon = authority.find(':');
  for (const char c : authority.substr(0, colon)) place.host += lower(c);
  if (place.host.empty() || !std::ranges::all_of(place.host, is_host_char)) return std::nullopt;
  place.port = place.is_https ? kHttps : kHttp;
  if (colon == std::string_view::npos) return place;
  const std::string_view digits = authority.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), place.port);
  if (error != std::errc{} || end != digits.data() + digits.size() || place.port == 0) return std::nullopt;
  return place;
}

std::string place_text(const WebPlace& place) {
  const bool usual = place.port == (place.is_https ? kHttps : kHttp);
  return usual ? place.host : place.host + ":" + std::to_string(place.port);
}

SourceKind source_of(std::string_view spec) {
  if (spec.empty()) return SourceKind::kNone;
  for (const std::string_view prefix : kGitPrefixes) {
    if (starts_with_nocase(spec, prefix)) return SourceKind::kGit;
  }
  if (starts_with_nocase(spec, "http:") || starts_with_nocase(spec, "https:")) {
    const std::string_view path = spec.substr(0, spec.find_first_of("?#"));
    return path.ends_with(".git") ? SourceKind::kGit : SourceKind::kUrl;
  }
  if (starts_with_nocase(spec, "file:") || starts_with_nocase(spec, "link:") || spec.starts_with('.') ||
      spec.starts_with('/') || spec.starts_with('~')) {
    // "~1.2" is a range.
    if (spec.starts_with('~') && !spec.starts_with("~/")) return SourceKind::kRegistry;
    return SourceKind::kLocal;
  }
  if (starts_with_nocase(spec, "npm:") || starts_with_nocase(spec, "workspace:")) return SourceKind::kRegistry;
  return is_user_and_repo(spec) ? SourceKind::kGit : SourceKind::kRegistry;
}

}  // namespace sallyport::jobs
