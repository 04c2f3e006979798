// Any command and any text: a secret in a place that a rule names never comes through, and a second pass changes nothing.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/audit/redact.h"
#include "fuzz/require.h"

namespace {

using Words = std::vector<std::string>;

// $ is the secret.
const std::vector<Words> kForms = {{"git", "clone", "https://me:$@host.example/r"},
                                   {"npm", "--password", "$"},
                                   {"npm", "--_authToken=$"},
                                   {"curl", "-u", "me:$"},
                                   {"curl", "-H", "Authorization: Bearer $"},
                                   {"sh", "API_KEY=$"},
                                   {"curl", "https://h.example/?token=$&x=1"}};

// What a secret is made of where nothing quotes it.
std::string as_secret(std::string_view bytes) {
  std::string secret;
  for (const char c : bytes) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    if (plain) secret += c;
  }
  return secret;
}

bool holds(const Words& words, const std::string& text) {
  for (const std::string& word : words) {
    if (word.find(text) != std::string::npos) return true;
  }
  return false;
}

void check_forms(const std::string& secret) {
  constexpr std::size_t kLongEnough = 6;
  if (secret.size() < kLongEnough || std::string(sallyport::audit::kRedacted).find(secret) != std::string::npos) return;
  for (const Words& form : kForms) {
    if (holds(form, secret)) continue;
    Words words = form;
    for (std::string& word : words) {
      if (const std::size_t at = word.find('$'); at != std::string::npos) word.replace(at, 1, secret);
    }
    require(holds(words, secret));
    require(!holds(sallyport::audit::redact_argv(words).argv, secret));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string once = sallyport::audit::redact_text(bytes);
  require(sallyport::audit::redact_text(once) == once);
  Words words{"tool"};
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find('\0'));
    words.emplace_back(word);
    rest.remove_prefix(word.size() == rest.size() ? rest.size() : word.size() + 1);
  }
  require(sallyport::audit::redact_argv(words).argv.size() == words.size());
  check_forms(as_secret(bytes));
  return 0;
}
