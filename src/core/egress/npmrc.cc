#include "core/egress/npmrc.h"

#include <fmt/format.h>

#include "core/bytes/base64.h"
#include "core/egress/registry_url.h"
#include "core/errors.h"
#include "core/text/printable.h"

namespace sallyport {
namespace {

Error auth_missing(std::string_view why, std::string_view hint) { return invalid_request("registry_auth", why, hint); }

std::string_view trimmed(std::string_view text) {
  static constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.front() == text.back();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// The last of several counts, as in npm's ini. Lines below a [section] belong to that section, so we ignore them.
std::optional<std::string_view> value_of(std::string_view npmrc, std::string_view key) {
  std::optional<std::string_view> found;
  while (!npmrc.empty()) {
    const std::size_t end = std::min(npmrc.find('\n'), npmrc.size());
    const std::string_view line = trimmed(npmrc.substr(0, end));
    npmrc.remove_prefix(std::min(end + 1, npmrc.size()));
    if (line.starts_with('[')) return found;
    const std::size_t equals = line.find('=');
    if (line.starts_with(';') || line.starts_with('#') || equals == std::string_view::npos) continue;
    if (unquoted(trimmed(line.substr(0, equals))) == key) found = unquoted(trimmed(line.substr(equals + 1)));
  }
  return found;
}

// "${NAME}", and "${NAME?}", which may be unset.
Result<std::string> expanded(std::string_view text, const NpmrcVariable& variable) {
  std::string out;
  while (true) {
    const std::size_t begin = text.find("${");
    const std::size_t end = begin == std::string_view::npos ? begin : text.find('}', begin);
    out += text.substr(0, end == std::string_view::npos ? end : begin);
    if (end == std::string_view::npos) return out;
    std::string name(text.substr(begin + 2, end - begin - 2));
    const bool optional = name.ends_with('?');
    if (optional) name.pop_back();
    const std::optional<std::string> value = variable ? variable(name) : std::nullopt;
    if (!value && !optional) {
      return fail(auth_missing(fmt::format("your .npmrc names the variable {}, which is not set", printable(name)),
                               "set it where you start the call"));
    }
    out += value.value_or("");
    text.remove_prefix(end + 1);
  }
}

// The credentials of one "//host/path/"; nullopt when it has none.
Result<std::optional<std::string>> authorization_of(std::string_view npmrc, const std::string& key,
                                                    const NpmrcVariable& variable) {
  if (const auto token = value_of(npmrc, key + ":_authToken")) {
    return std::optional(fmt::format("Bearer {}", TRY(expanded(*token, variable))));
  }
  const auto user = value_of(npmrc, key + ":username");
  const auto password = value_of(npmrc, key + ":_password");
  if (user && password) {
    const std::optional<std::string> decoded = from_base64(TRY(expanded(*password, variable)));
    if (!decoded) return fail(auth_missing("the _password in your .npmrc is no base64", "npm writes it in base64"));
    return std::optional(fmt::format("Basic {}", base64(TRY(expanded(*user, variable)) + ":" + *decoded)));
  }
  if (const auto basic = value_of(npmrc, key + ":_auth")) {
    return std::optional(fmt::format("Basic {}", TRY(expanded(*basic, variable))));
  }
  return std::optional<std::string>();
}

}  // namespace

Result<std::optional<std::string>> registry_in(std::string_view npmrc, const NpmrcVariable& variable) {
  const std::optional<std::string_view> named = value_of(npmrc, "registry");
  if (!named) return std::optional<std::string>();
  return std::optional(TRY(expanded(*named, variable)));
}

Result<std::string> registry_authorization(std::string_view npmrc, std::string_view registry,
                                           const NpmrcVariable& variable) {
  const RegistryPlace place = TRY(registry_place(registry));
  const bool usual = place.port == (place.tls ? 443 : 80);
  const std::string host = usual ? fmt::format("//{}", place.name) : fmt::format("//{}:{}", place.name, place.port);
  for (std::string path = place.path;;) {
    // With its last slash, as npm writes it, or without.
    for (const std::string& key : {host + path, host + path.substr(0, path.size() - 1)}) {
      std::optional<std::string> found = TRY(authorization_of(npmrc, key, variable));
      if (found) return std::move(*found);
    }
    if (path == "/") break;
    path.resize(path.rfind('/', path.size() - 2) + 1);
  }
  return fail(auth_missing(fmt::format("your .npmrc has no credentials for {}{}", host, place.path),
                           fmt::format("`npm login` writes them, as {}{}:_authToken=", host, place.path)));
}

}  // namespace sallyport
