#include "core/policy/hardening/npm_packages.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/policy/hardening/options.h"

namespace sallyport::hardening {
namespace {

char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
bool is_letter(char c) { return to_lower(c) >= 'a' && to_lower(c) <= 'z'; }
bool is_slash(char c) { return c == '/' || c == '\\'; }

bool starts_with_any_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::ranges::equal(text.substr(0, prefix.size()), prefix, {}, to_lower, to_lower);
}

bool climbs(std::string_view path) {
  while (!path.empty()) {
    const auto* const slash = std::ranges::find_if(path, is_slash);
    const std::string_view part(path.begin(), slash);
    if (part == "..") return true;
    path.remove_prefix(std::min(path.size(), part.size() + 1));
  }
  return false;
}

bool has_slash(std::string_view text) { return std::ranges::any_of(text, is_slash); }

bool is_archive(std::string_view text) {
  constexpr std::array<std::string_view, 3> kEndings = {".tgz", ".tar.gz", ".tar"};
  return std::ranges::any_of(kEndings, [&](std::string_view ending) {
    return text.size() >= ending.size() && starts_with_any_case(text.substr(text.size() - ending.size()), ending);
  });
}

// "name:" at the beginning, as in a URL; empty when there is none.
std::string_view scheme_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  const std::string_view scheme = text.substr(0, colon);
  const bool plain = std::ranges::all_of(scheme, [](char c) { return is_letter(c) || c == '+'; });
  return plain ? scheme : std::string_view();
}

enum class Source { kRegistry, kInside, kOutside, kGit, kRemote };

// npm makes a URL of a path: "%2e%2e" climbs, and tabs and line ends vanish from between two dots.
bool is_plain_in_a_path(char c) { return c != '%' && c >= ' ' && c != 0x7f; }

Source source_of_path(std::string_view path) {
  const bool leaves = path.empty() || is_slash(path.front()) || path.front() == '~' || climbs(path);
  return leaves || !std::ranges::all_of(path, is_plain_in_a_path) ? Source::kOutside : Source::kInside;
}

// A specifier without the package's name. Hosted git has a short form, "user/repo", that looks like a path.
Source source_of(std::string_view spec) {
  if (starts_with_any_case(spec, "npm:")) spec.remove_prefix(4);
  if (starts_with_any_case(spec, "file:")) return source_of_path(spec.substr(5));
  if (spec.starts_with('.') || spec.starts_with('~') || (!spec.empty() && is_slash(spec.front()))) {
    // "~1.2" and "~ 1" are version ranges.
    if (!spec.starts_with('~') || (spec.size() > 1 && is_slash(spec[1]))) return source_of_path(spec);
  }
  const std::string_view scheme = scheme_of(spec);
  if (starts_with_any_case(scheme, "http")) return Source::kRemote;
  if (!scheme.empty()) return scheme.size() == 1 ? Source::kOutside : Source::kGit;
  if (spec.find(':') != std::string_view::npos) return Source::kGit;  // git@host:path
  if (is_archive(spec)) return source_of_path(spec);
  return has_slash(spec) ? Source::kGit : Source::kRegistry;
}

Status check_source(std::string_view argument, Source source, const NpmSources& allowed) {
  switch (source) {
    case Source::kRegistry:
    case Source::kInside:
      return {};
    case Source::kOutside:
      return fail(refused_argument("npm", argument, "it names a path outside of the working directory",
                                   "use a path below it, without .."));
    case Source::kGit:
      if (allowed.git) return {};
      return fail(refused_argument("npm", argument, "git dependencies are off", "allow them with --allow-git=root"));
    case Source::kRemote:
      // npm treats a hosting site's URL of a repo as a git dependency, any other URL as a remote one; if the caller
      // allowed either, npm itself decides.
      if (allowed.remote || allowed.git) return {};
      return fail(refused_argument("npm", argument, "dependencies by URL are off",
                                   "allow them with --allow-remote=root, or name the package"));
  }
  return {};
}

}  // namespace

Status check_npm_package(std::string_view argument, const NpmSources& allowed) {
  if (climbs(argument)) return check_source(argument, Source::kOutside, allowed);
  const std::size_t at = argument.find('@', 1);
  const bool scoped = argument.starts_with('@') && std::ranges::count(argument.substr(0, at), '/') == 1;
  if (at != std::string_view::npos) TRY(check_source(argument, source_of(argument.substr(at + 1)), allowed));
  if (scoped) return {};
  return check_source(argument, source_of(argument.substr(0, argument.starts_with('@') ? std::string_view::npos : at)),
                      allowed);
}

}  // namespace sallyport::hardening
