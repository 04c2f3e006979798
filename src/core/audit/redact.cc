#include "core/audit/redact.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/audit/key_shapes.h"

namespace sallyport::audit {
namespace {

// Found anywhere in a name, once case and separators are gone.
constexpr auto kSecretParts =
    std::to_array<std::string_view>({"password", "passwd", "passphrase", "passcode", "secret", "token", "apikey",
                                     "accesskey", "privatekey", "signingkey", "encryptionkey", "credential",
                                     "authorization", "authentication", "bearer", "cookie", "sessionid", "apisecret"});
// The whole name.
constexpr auto kSecretNames = std::to_array<std::string_view>(
    {"pass", "pwd", "pw", "auth", "sig", "signature", "key", "code", "jwt", "sas", "pat", "otp", "pin"});
// Names of options whose value is user:password.
constexpr auto kUserOptions = std::to_array<std::string_view>(
    {"-u", "-U", "--user", "--proxy-user", "--creds", "--dest-creds", "--src-creds", "--username"});

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string bare(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '_' || c == '-' || c == '.' || c == ':' || c == '[' || c == ']') continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

// Name characters that end right before `end`.
std::string_view name_before(std::string_view text, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && is_name_char(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

struct Cut {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// scheme://user:password@host: all before the last @ of the authority. Neither a backslash nor ? or # ends it, though parsers
// differ about them: whoever typed one unquoted meant it as part of a password.
std::optional<Cut> url_credentials(std::string_view text, std::size_t colon) {
  if (!text.substr(colon).starts_with("://")) return std::nullopt;
  const std::size_t begin = colon + 3;
  std::size_t end = begin;
  while (end < text.size() && !is_space(text[end]) && text[end] != '/' && text[end] != '"') ++end;
  const std::size_t at = text.substr(begin, end - begin).rfind('@');
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  return Cut{.begin = begin, .end = begin + at};
}

// user:password@host without a scheme (git's scp form has no password, and so no colon before the @).
std::optional<Cut> bare_credentials(std::string_view text, std::size_t colon) {
  if (colon == 0 || !is_name_char(text[colon - 1]) || text.substr(colon).starts_with("://")) return std::nullopt;
  // npm's own way to name a package: alias@npm:name@version.
  const std::string_view name = name_before(text, colon);
  if (name == "npm" || name == "jsr" || name == "workspace") return std::nullopt;
  std::size_t end = colon + 1;
  while (end < text.size() && !is_space(text[end]) && text[end] != '/' && text[end] != '@' && text[end] != '"') ++end;
  if (end == text.size() || text[end] != '@' || end == colon + 1) return std::nullopt;
  return Cut{.begin = colon + 1, .end = end};
}

std::size_t end_of_quoted(std::string_view text, std::size_t begin, char quote) {
  std::size_t end = begin;
  while (end < text.size() && text[end] != quote) end += text[end] == '\\' ? 2 : 1;
  return std::min(end, text.size());
}

// What follows `=` up to a blank, a quote or the next parameter; what follows `:` up to the end of its line or quote.
std::optional<Cut> named_value(std::string_view text, std::size_t separator) {
  std::size_t name_end = separator;
  if (name_end > 0 && (text[name_end - 1] == '"' || text[name_end - 1] == '\'')) --name_end;
  const std::string_view name = name_before(text, name_end);
  if (name.empty() || !names_secret(name)) return std::nullopt;
  std::size_t begin = separator + 1;
  while (begin < text.size() && (text[begin] == ' ' || text[begin] == '\t')) ++begin;
  if (begin == text.size()) return std::nullopt;
  const char quote = text[begin];
  if (quote == '"' || quote == '\'') return Cut{.begin = begin + 1, .end = end_of_quoted(text, begin + 1, quote)};
  const bool header = text[separator] == ':';
  std::size_t end = begin;
  while (end < text.size() && text[end] != '\n' && text[end] != '\r' && text[end] != '"' &&
         (header || (!is_space(text[end]) && text[end] != '&'))) {
    ++end;
  }
  return Cut{.begin = begin, .end = end};
}

std::optional<Cut> cut_at(std::string_view text, std::size_t at) {
  if (text[at] == ':') {
    if (const std::optional<Cut> url = url_credentials(text, at)) return url;
    if (const std::optional<Cut> value = named_value(text, at)) return value;
    return bare_credentials(text, at);
  }
  if (text[at] == '=') return named_value(text, at);
  const std::size_t length = key_shape_at(text, at);
  if (length == 0) return std::nullopt;
  return Cut{.begin = at, .end = at + length};
}

// Where the secret of a word begins that says itself what it is: --token=x, TOKEN=x, -Dtoken=x, "Authorization: x".
std::optional<std::size_t> secret_of_word(std::string_view word) {
  const std::size_t separator = word.find_first_of("=:");
  if (separator == std::string_view::npos || separator == 0 || separator + 1 == word.size()) return std::nullopt;
  const std::string_view name = name_before(word, separator);
  if (name.size() != separator && !word.substr(0, separator - name.size()).ends_with('=')) return std::nullopt;
  if (!names_secret(name)) return std::nullopt;
  return separator + 1;
}

class ArgvRedactor {
 public:
  explicit ArgvRedactor(std::span<const std::string> argv) : argv_(argv) {}

  RedactedArgv redact() {
    for (std::size_t i = 0; i < argv_.size(); ++i) {
      const std::string& word = argv_[i];
      std::string kept = i == 0 ? redact_text(word) : redact_word(i);
      if (kept != word) ++out_.count;
      out_.argv.push_back(std::move(kept));
    }
    return std::move(out_);
  }

 private:
  std::string redact_word(std::size_t at) {
    const std::string_view word = argv_[at];
    const std::string_view before = argv_[at - 1];
    if (takes_secret(at - 1)) return take_out("", word);
    if (is_user_option(before)) {
      const std::size_t colon = word.find(':');
      if (colon != std::string_view::npos && !word.substr(colon).starts_with("://")) {
        return take_out(redact_text(word.substr(0, colon + 1)), word.substr(colon + 1));
      }
    }
    if (word.starts_with("-u") && !word.starts_with("--")) {
      const std::size_t colon = word.find(':');
      if (colon != std::string_view::npos && !word.substr(colon).starts_with("://")) {
        return take_out(word.substr(0, colon + 1), word.substr(colon + 1));
      }
    }
    if (const std::optional<std::size_t> begin = secret_of_word(word)) {
      return take_out(redact_text(word.substr(0, *begin)), word.substr(*begin));
    }
    return note_cuts(word);
  }

  // The word at `at` is an option whose value is the next word.
  [[nodiscard]] bool takes_secret(std::size_t at) const {
    const std::string_view word = argv_[at];
    if (at == 0 || word.size() < 2 || !word.starts_with('-') || word.starts_with("--no-")) return false;
    if (word.find_first_of("= ") != std::string_view::npos) return false;
    if (word == "-p" || word == "-P") return logs_in();
    return word.starts_with("--") ? names_secret(word) && bare(word) != "key" && bare(word) != "code"
                                  : word.size() > 2 && names_secret(word);
  }
  [[nodiscard]] static bool is_user_option(std::string_view word) {
    return std::ranges::find(kUserOptions, word) != kUserOptions.end();
  }
  [[nodiscard]] bool logs_in() const { return std::ranges::find(argv_, "login") != argv_.end(); }

  std::string take_out(std::string_view before, std::string_view secret) {
    constexpr std::size_t kTooShortToFind = 4;
    if (secret == kRedacted) return std::string(before) + std::string(secret);
    if (secret.size() >= kTooShortToFind) out_.secrets.emplace_back(secret);
    return std::string(before) + std::string(kRedacted);
  }

  std::string note_cuts(std::string_view word) {
    std::string kept = redact_text(word);
    if (kept != word) out_.secrets.emplace_back(word);
    return kept;
  }

  std::span<const std::string> argv_;
  RedactedArgv out_;
};

}  // namespace

bool names_secret(std::string_view name) {
  const std::string text = bare(name);
  if (std::ranges::find(kSecretNames, text) != kSecretNames.end()) return true;
  return std::ranges::any_of(kSecretParts, [&](std::string_view part) { return text.find(part) != std::string::npos; });
}

std::string redact_text(std::string_view text) {
  std::string out;
  std::size_t copied = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::optional<Cut> cut = cut_at(text, at);
    if (!cut || cut->begin >= cut->end) {
      ++at;
      continue;
    }
    out += text.substr(copied, cut->begin - copied);
    // A second pass must find nothing new to cut.
    out += kRedacted;
    copied = cut->end;
    at = std::max(at + 1, cut->end);
  }
  return out += text.substr(copied);
}

RedactedArgv redact_argv(std::span<const std::string> argv) { return ArgvRedactor(argv).redact(); }

std::string redact_text(std::string_view text, std::span<const std::string> secrets) {
  std::string out(text);
  for (const std::string& secret : secrets) {
    for (std::size_t at = out.find(secret); at != std::string::npos; at = out.find(secret, at + kRedacted.size())) {
      out.replace(at, secret.size(), kRedacted);
    }
  }
  return redact_text(out);
}

}  // namespace sallyport::audit
