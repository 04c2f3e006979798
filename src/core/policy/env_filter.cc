#include "core/policy/env_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "core/errors.h"

namespace sallyport {
namespace {

enum class Match { kExact, kPrefix, kPrefixAnyCase };

struct NameRule {
  Match match;
  std::string_view text;
  std::string_view why;
};

constexpr std::string_view kLoader = "it says what the dynamic loader or the C library loads";
constexpr std::string_view kShell = "a shell runs or obeys it";
constexpr std::string_view kRuntime = "a language runtime loads code or options from it";
constexpr std::string_view kGit = "git takes programs, files or configuration from it";
constexpr std::string_view kProgram = "it names a program to run";
constexpr std::string_view kConfig = "it names or holds the tool's configuration";
constexpr std::string_view kGoTools = "the Go tools take programs or code from it";
constexpr std::string_view kBase = "it comes from the base environment only";

constexpr std::string_view kNodeOptions = "NODE_OPTIONS";

// Names that turn data into code, start another program, or undo a tool's hardening. A prefix closes a whole family,
// and kHarmless below allows its harmless members, so that a variable invented later is refused too.
constexpr auto kForbidden = std::to_array<NameRule>({
    NameRule{Match::kExact, "PATH", kBase},
    NameRule{Match::kExact, "HOME", kBase},
    NameRule{Match::kExact, "LANG", kBase},
    NameRule{Match::kExact, "LC_ALL", kBase},
    // The loader, and glibc's own list of what it drops for setuid programs (sysdeps/generic/unsecvars.h).
    NameRule{Match::kPrefix, "LD_", kLoader},
    NameRule{Match::kPrefix, "DYLD_", kLoader},
    NameRule{Match::kExact, "GCONV_PATH", kLoader},
    NameRule{Match::kExact, "GETCONF_DIR", kLoader},
    NameRule{Match::kExact, "GLIBC_TUNABLES", kLoader},
    NameRule{Match::kExact, "HOSTALIASES", kLoader},
    NameRule{Match::kExact, "LOCALDOMAIN", kLoader},
    NameRule{Match::kExact, "LOCPATH", kLoader},
    NameRule{Match::kPrefix, "MALLOC_", kLoader},
    NameRule{Match::kExact, "NIS_PATH", kLoader},
    NameRule{Match::kExact, "NLSPATH", kLoader},
    NameRule{Match::kExact, "RESOLV_HOST_CONF", kLoader},
    NameRule{Match::kExact, "RES_OPTIONS", kLoader},
    NameRule{Match::kExact, "TZDIR", kLoader},
    NameRule{Match::kPrefix, "OPENSSL_", kLoader},
    NameRule{Match::kExact, "SSLKEYLOGFILE", "it writes session keys to a file"},
    // Shells.
    NameRule{Match::kPrefix, "BASH", kShell},
    NameRule{Match::kExact, "ENV", kShell},
    NameRule{Match::kExact, "IFS", kShell},
    NameRule{Match::kExact, "CDPATH", kShell},
    NameRule{Match::kExact, "SHELL", kShell},
    NameRule{Match::kExact, "SHELLOPTS", kShell},
    NameRule{Match::kExact, "PS4", kShell},
    NameRule{Match::kExact, "PROMPT_COMMAND", kShell},
    NameRule{Match::kExact, "ZDOTDIR", kShell},
    // Language runtimes the tools are written in.
    NameRule{Match::kPrefix, "NODE_", kRuntime},
    NameRule{Match::kPrefix, "PYTHON", kRuntime},
    NameRule{Match::kPrefix, "PERL", kRuntime},
    NameRule{Match::kPrefix, "RUBY", kRuntime},
    NameRule{Match::kPrefix, "GEM_", kRuntime},
    NameRule{Match::kPrefix, "BUNDLE_", kRuntime},
    NameRule{Match::kExact, "CLASSPATH", kRuntime},
    NameRule{Match::kExact, "JAVA_TOOL_OPTIONS", kRuntime},
    NameRule{Match::kExact, "JAVA_OPTS", kRuntime},
    NameRule{Match::kExact, "_JAVA_OPTIONS", kRuntime},
    NameRule{Match::kExact, "JDK_JAVA_OPTIONS", kRuntime},
    NameRule{Match::kExact, "JDK_JAVAC_OPTIONS", kRuntime},
    NameRule{Match::kExact, "PYTEST_PLUGINS", kRuntime},
    NameRule{Match::kExact, "COVERAGE_PROCESS_START", kRuntime},
    NameRule{Match::kExact, "DOTNET_STARTUP_HOOKS", kRuntime},
    NameRule{Match::kExact, "GTK_MODULES", kRuntime},
    NameRule{Match::kExact, "QT_PLUGIN_PATH", kRuntime},
    NameRule{Match::kExact, "VIMINIT", kRuntime},
    NameRule{Match::kExact, "GUILE_LOAD_PATH", kRuntime},
    NameRule{Match::kExact, "JULIA_LOAD_PATH", kRuntime},
    NameRule{Match::kPrefix, "R_PROFILE", kRuntime},
    NameRule{Match::kPrefix, "LUA_", kRuntime},
    NameRule{Match::kPrefix, "PHP", kRuntime},
    NameRule{Match::kPrefix, "DENO_", kRuntime},
    NameRule{Match::kPrefix, "BUN_", kRuntime},
    // Tools of the set.
    NameRule{Match::kPrefix, "GIT_", kGit},
    NameRule{Match::kExact, "SSH_ASKPASS", kProgram},
    NameRule{Match::kExact, "SSH_ASKPASS_REQUIRE", kProgram},
    NameRule{Match::kPrefixAnyCase, "npm_config_", "npm reads its options from it, in any case"},
    NameRule{Match::kPrefix, "npm_", "npm hands it to scripts it runs"},
    NameRule{Match::kPrefix, "YARN_", kConfig},
    NameRule{Match::kPrefix, "DOCKER_", "docker takes its daemon or configuration from it"},
    NameRule{Match::kPrefix, "CONTAINER_", "it names a container daemon"},
    NameRule{Match::kPrefix, "BUILDKIT_", "it names a container daemon"},
    NameRule{Match::kPrefix, "BUILDX_", "it names a container daemon"},
    NameRule{Match::kPrefix, "COMPOSE_", kConfig},
    NameRule{Match::kPrefix, "SEMGREP_", kConfig},
    NameRule{Match::kPrefix, "GITLEAKS_", kConfig},
    NameRule{Match::kExact, "RIPGREP_CONFIG_PATH", kConfig},
    NameRule{Match::kPrefix, "SYFT_", kConfig},
    NameRule{Match::kPrefix, "GRYPE_", kConfig},
    NameRule{Match::kPrefix, "ANCHORE_", kConfig},
    NameRule{Match::kPrefix, "AST_GREP_", kConfig},
    NameRule{Match::kPrefix, "CGO_", kGoTools},
    NameRule{Match::kExact, "GOENV", kGoTools},
    NameRule{Match::kExact, "GOFLAGS", kGoTools},
    NameRule{Match::kExact, "GOPATH", kGoTools},
    NameRule{Match::kExact, "GOPROXY", kGoTools},
    NameRule{Match::kExact, "GOROOT", kGoTools},
    NameRule{Match::kExact, "GOTOOLCHAIN", kGoTools},
    NameRule{Match::kExact, "GOWORK", kGoTools},
    NameRule{Match::kExact, "CC", kProgram},
    NameRule{Match::kExact, "CXX", kProgram},
    NameRule{Match::kPrefix, "CC_", kProgram},
    NameRule{Match::kPrefix, "CXX_", kProgram},
    NameRule{Match::kPrefix, "TREE_SITTER_", kConfig},
    // Build tools of the ready policies.
    NameRule{Match::kPrefix, "RUSTC", kProgram},
    NameRule{Match::kPrefix, "CARGO_BUILD_RUST", kProgram},
    NameRule{Match::kPrefix, "CARGO_TARGET_", kProgram},
    NameRule{Match::kExact, "RUSTDOC", kProgram},
    NameRule{Match::kExact, "CCACHE_PREFIX", kProgram},
    NameRule{Match::kExact, "CCACHE_PREFIX_CPP", kProgram},
    NameRule{Match::kExact, "CCACHE_COMPILER", kProgram},
    NameRule{Match::kExact, "CCACHE_PATH", kProgram},
    NameRule{Match::kExact, "CCACHE_CONFIGPATH", kConfig},
    NameRule{Match::kExact, "CMAKE_TOOLCHAIN_FILE", kConfig},
    NameRule{Match::kExact, "MAKEFILES", kConfig},
    NameRule{Match::kExact, "CCC_OVERRIDE_OPTIONS", kConfig},
    NameRule{Match::kExact, "CMAKE_C_COMPILER_LAUNCHER", kProgram},
    NameRule{Match::kExact, "CMAKE_CXX_COMPILER_LAUNCHER", kProgram},
    NameRule{Match::kExact, "CMAKE_C_LINKER_LAUNCHER", kProgram},
    NameRule{Match::kExact, "CMAKE_CXX_LINKER_LAUNCHER", kProgram},
    NameRule{Match::kExact, "GCC_EXEC_PREFIX", kProgram},
    NameRule{Match::kExact, "COMPILER_PATH", kProgram},
    NameRule{Match::kExact, "AR", kProgram},
    NameRule{Match::kExact, "AS", kProgram},
    NameRule{Match::kExact, "CPP", kProgram},
    NameRule{Match::kExact, "LD", kProgram},
    NameRule{Match::kExact, "LEX", kProgram},
    NameRule{Match::kExact, "M4", kProgram},
    NameRule{Match::kExact, "MAKE", kProgram},
    NameRule{Match::kExact, "PKG_CONFIG", kProgram},
    NameRule{Match::kExact, "YACC", kProgram},
    NameRule{Match::kExact, "DEPENDENCIES_OUTPUT", "a compiler writes to the file it names"},
    NameRule{Match::kExact, "SUNPRO_DEPENDENCIES", "a compiler writes to the file it names"},
    NameRule{Match::kExact, "XDG_CONFIG_HOME", kConfig},
    NameRule{Match::kExact, "XDG_CONFIG_DIRS", kConfig},
    // Programs that tools start on the user's behalf.
    NameRule{Match::kExact, "EDITOR", kProgram},
    NameRule{Match::kExact, "VISUAL", kProgram},
    NameRule{Match::kExact, "PAGER", kProgram},
    NameRule{Match::kExact, "MANPAGER", kProgram},
    NameRule{Match::kExact, "SYSTEMD_PAGER", kProgram},
    NameRule{Match::kExact, "BROWSER", kProgram},
    NameRule{Match::kPrefix, "LESS", kProgram},
});

// Members of a closed family that only carry a value.
constexpr auto kHarmless = std::to_array<std::string_view>({
    "CARGO_TARGET_DIR",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
    "NODE_ENV",
    "NODE_NO_WARNINGS",
    "NODE_DISABLE_COLORS",
    // Certificates to trust, besides the runtime's own list; the gate decides which hosts can be reached.
    "NODE_EXTRA_CA_CERTS",
    "PYTHONUNBUFFERED",
    "PYTHONHASHSEED",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "PYTHONDONTWRITEBYTECODE",
    // Where the operator keeps grype's database.
    "GRYPE_DB_CACHE_DIR",
    "GRYPE_DB_AUTO_UPDATE",
    "GRYPE_DB_VALIDATE_AGE",
});

// The options of node that only set a size, a number or a warning. Everything else in NODE_OPTIONS can load code
// (--require, --import, --loader), open a port (--inspect) or write files (--cpu-prof, --heapsnapshot-signal …).
constexpr auto kNodeFlags = std::to_array<std::string_view>(
    {"--enable-source-maps", "--experimental-vm-modules", "--no-deprecation", "--no-experimental-fetch",
     "--no-warnings", "--openssl-legacy-provider", "--throw-deprecation", "--trace-deprecation", "--trace-uncaught",
     "--trace-warnings", "--use-openssl-ca", "--use-system-ca"});
constexpr auto kNodeNumbers =
    std::to_array<std::string_view>({"--max-http-header-size", "--max-old-space-size", "--max-semi-space-size",
                                     "--stack-trace-limit", "--stack-size", "--v8-pool-size"});
constexpr auto kNodeWords = std::to_array<std::string_view>({"--dns-result-order", "--unhandled-rejections"});

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_harmless_node_option(std::string_view word) {
  const std::size_t equals = word.find('=');
  std::string name(word.substr(0, equals));
  std::ranges::replace(name, '_', '-');  // node accepts both
  if (equals == std::string_view::npos) return std::ranges::find(kNodeFlags, name) != kNodeFlags.end();
  const std::string_view value = word.substr(equals + 1);
  if (value.empty() || value.front() == '-') return false;
  if (std::ranges::find(kNodeNumbers, name) != kNodeNumbers.end()) return std::ranges::all_of(value, is_digit);
  return std::ranges::find(kNodeWords, name) != kNodeWords.end() && std::ranges::all_of(value, is_lower_or_digit);
}

// The first word that is not known to be harmless; nullopt when all are. node splits at blanks, but a quote or a
// backslash would join several words.
std::optional<std::string_view> refused_node_option(std::string_view value) {
  while (!value.empty()) {
    const std::string_view word = value.substr(0, value.find(' '));
    value.remove_prefix(std::min(word.size() + 1, value.size()));
    if (!word.empty() && !is_harmless_node_option(word)) return word;
  }
  return std::nullopt;
}

char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool starts_with_any_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::ranges::equal(text.substr(0, prefix.size()), prefix, {}, to_lower, to_lower);
}

bool matches(const NameRule& rule, std::string_view name) {
  switch (rule.match) {
    case Match::kExact:
      return name == rule.text;
    case Match::kPrefix:
      return name.starts_with(rule.text);
    case Match::kPrefixAnyCase:
      return starts_with_any_case(name, rule.text);
  }
  return true;
}

bool is_name_start(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }
bool is_name_char(char c) { return is_name_start(c) || (c >= '0' && c <= '9'); }

bool is_valid_name(std::string_view name) {
  return !name.empty() && is_name_start(name.front()) && std::ranges::all_of(name, is_name_char);
}

Status check_extra(const EnvVar& extra) {
  if (!is_valid_name(extra.name)) {
    return fail(invalid_request("env_extras", fmt::format("'{}' is not a variable name", extra.name),
                                "use letters, digits and _, not starting with a digit"));
  }
  if (extra.value.find('\0') != std::string::npos) {
    return fail(invalid_request("env_extras", fmt::format("the value of {} holds a NUL byte", extra.name),
                                "the kernel would cut the value there; remove the byte"));
  }
  const std::string_view why = why_env_forbidden(extra.name);
  if (extra.name == kNodeOptions) {
    const std::optional<std::string_view> refused = refused_node_option(extra.value);
    if (!refused) return {};
    return fail(invalid_request("env_extras", fmt::format("{} may not hold '{}': {}", extra.name, *refused, why),
                                "sizes and warnings may be set, e.g. NODE_OPTIONS=--max-old-space-size=4096"));
  }
  if (!why.empty()) {
    return fail(invalid_request("env_extras", fmt::format("{} may not be set: {}", extra.name, why),
                                "drop it; pass what the tool needs as an argument"));
  }
  return {};
}

}  // namespace

std::string_view why_env_forbidden(std::string_view name) {
  if (std::ranges::find(kHarmless, name) != kHarmless.end()) return {};
  const auto* const rule = std::ranges::find_if(kForbidden, [&](const NameRule& r) { return matches(r, name); });
  return rule == kForbidden.end() ? std::string_view() : rule->why;
}

Result<std::vector<EnvVar>> child_env(std::span<const EnvVar> base, std::span<const EnvVar> extras) {
  std::vector<EnvVar> env;
  for (const std::string_view name : kBaseEnvNames) {
    const auto found = std::ranges::find(base, name, &EnvVar::name);
    // A base value with a NUL cannot come from a real environment, so leave it out; the part before the NUL would be a
    // guess.
    if (found != base.end() && found->value.find('\0') == std::string::npos) env.push_back(*found);
  }
  for (const EnvVar& extra : extras) {
    TRY(check_extra(extra));
    env.push_back(extra);
  }
  std::ranges::sort(env, {}, &EnvVar::name);
  const auto repeated = std::ranges::adjacent_find(env, {}, &EnvVar::name);
  if (repeated != env.end()) {
    return fail(invalid_request("env_extras", fmt::format("{} is given twice", repeated->name), "give each name once"));
  }
  return env;
}

void overlay(std::vector<EnvVar>& env, std::span<const EnvVar> over) {
  for (const EnvVar& var : over) {
    std::erase_if(env, [&](const EnvVar& old) { return old.name == var.name; });
    env.push_back(var);
  }
  std::ranges::sort(env, {}, &EnvVar::name);
}

}  // namespace sallyport
