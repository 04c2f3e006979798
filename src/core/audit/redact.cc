#include "core/audit/redact.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/audit/key_shapes.h"

namespace sallyport::audit {
namespace {

// Matched anywhere in a name, ignoring case and separators.
constexpr auto kSecretParts = std::to_array<std::string_view>(
    {"password",  "passwd",      "passphrase", "passcode",        "secret",       "token",          "apikey",
     "accesskey", "privatekey",  "signingkey", "encryptionkey",   "credential",   "authorization",  "authentication",
     "bearer",    "cookie",      "sessionid",  "apisecret",       "accountkey",   "storagekey",     "masterkey",
     "sharedkey", "consumerkey", "hmackey",    "subscriptionkey", "functionskey", "applicationkey", "licensekey",
     "authkey",   "appkey",      "sessionkey", "connectionstring"});
// Matched against the whole name.
constexpr auto kSecretNames = std::to_array<std::string_view>(
    {"pass", "pwd", "pw", "auth", "sig", "signature", "key", "code", "jwt", "sas", "pat", "otp", "pin", "psk"});
// Matched against the last word of a name: DB_PWD, X-Auth, x-amz-signature.
constexpr auto kSecretEndings = std::to_array<std::string_view>(
    {"pwd", "pw", "auth", "sig", "signature", "jwt", "sas", "pat", "otp", "pin", "psk"});
// Words that end with "pass" and mean no password.
constexpr auto kOtherPasses = std::to_array<std::string_view>({"bypass", "compass", "multipass", "onepass", "twopass"});
// What an abbreviated option may mean; getopt accepts any prefix.
constexpr auto kAbbreviated =
    std::to_array<std::string_view>({"password", "passphrase", "secret", "token", "credentials"});
// Programs whose short option has a password as its value, in the next word or attached.
struct PasswordOption {
  std::string_view program;
  std::string_view option;
};
constexpr auto kPasswordOptions = std::to_array<PasswordOption>({
    {"mysql", "-p"},
    {"mysqldump", "-p"},
    {"mysqladmin", "-p"},
    {"mariadb", "-p"},
    {"mongo", "-p"},
    {"mongosh", "-p"},
    {"sshpass", "-p"},
    {"7z", "-p"},
    {"7za", "-p"},
    {"zip", "-P"},
    {"unzip", "-P"},
    {"redis-cli", "-a"},
    {"ldapsearch", "-w"},
    {"ldapmodify", "-w"},
});
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

// The run of name characters that ends right before `end`.
std::string_view name_before(std::string_view text, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && is_name_char(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

std::string_view last_word(std::string_view name) {
  const std::size_t at = name.find_last_of("_-.:");
  return at == std::string_view::npos ? std::string_view() : name.substr(at + 1);
}

bool ends_with_password(const std::string& name) {
  return name.ends_with("pass") &&
         std::ranges::none_of(kOtherPasses, [&](std::string_view other) { return name.ends_with(other); });
}

// STRIPE_KEY is a variable that holds a key; --sort-key is not.
bool is_key_variable(std::string_view name) {
  return name.ends_with("_KEY") && std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
}

struct Cut {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// scheme://user:password@host: everything before the last @ of the authority. Parsers differ on whether a backslash, ?
// or # ends the authority; here they do not, since a user who types one unquoted means it as part of a password.
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
  // npm's syntax for a package: alias@npm:name@version.
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

// The text after `=` up to a blank, a quote or the next parameter; the text after `:` up to the end of its line or
// quote.
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

// <password>x</password>
std::optional<Cut> element(std::string_view text, std::size_t bracket) {
  const std::string_view name = name_before(text, bracket);
  const bool opens = bracket > name.size() && text[bracket - name.size() - 1] == '<';
  if (!opens || !names_secret(name)) return std::nullopt;
  return Cut{.begin = bracket + 1, .end = std::min(text.find('<', bracket), text.size())};
}

std::optional<Cut> cut_at(std::string_view text, std::size_t at) {
  if (text[at] == '>') return element(text, at);
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

// In a word that names its own secret, where that secret begins: --token=x, TOKEN=x, -Dtoken=x, --env=TOKEN=x,
// "Authorization: x".
std::optional<std::size_t> secret_of_word(std::string_view word) {
  for (std::size_t at = word.find_first_of("=:"); at != std::string_view::npos; at = word.find_first_of("=:", at + 1)) {
    if (at == 0 || at + 1 == word.size()) return std::nullopt;
    const std::string_view name = name_before(word, at);
    const bool at_start = name.size() == at || word.substr(0, at - name.size()).ends_with('=');
    if (!at_start) return std::nullopt;
    if (names_secret(name)) return at + 1;
  }
  return std::nullopt;
}

// In an option with an attached user:password, where that begins.
std::optional<std::size_t> user_in_option(std::string_view word) {
  for (const std::string_view option : kUserOptions) {
    if (!word.starts_with(option)) continue;
    if (option.starts_with("--")) {
      if (word.size() > option.size() + 1 && word[option.size()] == '=') return option.size() + 1;
    } else if (word.size() > option.size()) {
      return option.size();
    }
  }
  return std::nullopt;
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
    if (const std::string_view option = password_option(); !option.empty()) {
      if (before == option) return take_out("", word);
      if (word.size() > option.size() && word.starts_with(option)) return take_out(option, word.substr(option.size()));
    }
    if (const auto user = is_user_option(before) ? std::optional<std::size_t>(0) : user_in_option(word)) {
      const std::size_t colon = word.find(':', *user);
      if (colon != std::string_view::npos && !word.substr(colon).starts_with("://")) {
        return take_out(redact_text(word.substr(0, colon + 1)), word.substr(colon + 1));
      }
    }
    if (const std::optional<std::size_t> begin = secret_of_word(word)) {
      return take_out(redact_text(word.substr(0, *begin)), word.substr(*begin));
    }
    return note_cuts(word);
  }

  // True when the word at `at` is an option whose value is the next word.
  [[nodiscard]] bool takes_secret(std::size_t at) const {
    const std::string_view word = argv_[at];
    if (at > 1 && !word.starts_with('-')) return is_setting(at);
    if (at == 0 || word.size() < 2 || !word.starts_with('-') || word.starts_with("--no-")) return false;
    if (word.find_first_of("= ") != std::string_view::npos) return false;
    if (word == "-p" || word == "-P") return has("login");
    if (word.starts_with("--") && is_abbreviation(bare(word))) return true;
    return word.starts_with("--") ? names_secret(word) && bare(word) != "key" && bare(word) != "code"
                                  : word.size() > 2 && names_secret(word);
  }
  [[nodiscard]] static bool is_user_option(std::string_view word) {
    return std::ranges::find(kUserOptions, word) != kUserOptions.end();
  }
  [[nodiscard]] bool has(std::string_view word) const { return std::ranges::find(argv_, word) != argv_.end(); }
  // "config set //host/:_authToken x", "configure set aws_secret_access_key x": a name, followed by its value.
  [[nodiscard]] bool is_setting(std::size_t at) const {
    const std::string_view word = argv_[at];
    const bool sets = has("set") || has("config") || has("configure");
    return sets && word.find_first_of("= ") == std::string_view::npos && names_secret(word.substr(word.rfind('/') + 1));
  }
  [[nodiscard]] static bool is_abbreviation(std::string_view name) {
    constexpr std::size_t kShortest = 4;
    return name.size() >= kShortest &&
           std::ranges::any_of(kAbbreviated, [&](std::string_view whole) { return whole.starts_with(name); });
  }
  [[nodiscard]] std::string_view password_option() const {
    if (has("login")) return "-p";
    const std::string_view program = std::string_view(argv_[0]).substr(argv_[0].rfind('/') + 1);
    const auto* const known = std::ranges::find(kPasswordOptions, program, &PasswordOption::program);
    return known == kPasswordOptions.end() ? std::string_view() : known->option;
  }

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
  const std::string last = bare(last_word(name));
  if (std::ranges::find(kSecretEndings, last) != kSecretEndings.end()) return true;
  if (ends_with_password(text) || is_key_variable(name)) return true;
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
