// Compiled from the definitions of npm 7.24, 8.19, 9.9, 10.9, every minor version of 11, and 12.0 to 12.2
// (@npmcli/config/lib/definitions), and npm 6.14's lib/config/defaults.js. ADR-0025 says how we tested each pin.
#include "core/policy/hardening/npm_keys.h"

#include <algorithm>
#include <array>

namespace sallyport::hardening {
namespace {

constexpr NpmVersion kAlways{0, 0};
constexpr NpmVersion kNpm7{7, 0};

constexpr auto kPins = std::to_array<NpmPin>({
    // Code that runs.
    {"ignore-scripts", "true", "install scripts of the project and its packages run"},
    {"git", kNoGit, "names the program started for a git dependency"},
    {"script-shell", "/bin/sh", "names the shell that runs a script"},
    {"shell", "/bin/sh", "names the shell of npm explore"},
    {"node-options", " ", "node loads code from it in everything npm starts"},
    {"browser", "false", "names the program that npm fund opens a page with"},
    {"viewer", "man", "names the program that shows help"},
    {"editor", "vi", "names the program of npm edit, exported as EDITOR"},
    {"init-module", "/dev/null", "names code that npm init loads"},
    {"call", " ", "holds a command of npm exec"},
    {"dangerously-allow-all-scripts", "false", "overrides the project's list of allowed scripts", false, {11, 16}},
    {"ignore-extension", "true", "npm 12 loads .npm-extension.mjs of the project", false, {12, 0}},
    {"onload-script", "false", "npm 6 loads code from it at every start", false, kAlways, kNpm7},
    // Packages from outside a registry: npm reads their own .npmrc while it prepares them.
    {"allow-git", "none", "a git dependency runs git and prepares the package with its own .npmrc", true, {11, 9}},
    {"allow-remote", "none", "a dependency by URL comes from any host, past the registry", true, {11, 14}},
    // Where npm acts.
    {"global", "false", "installs programs into the prefix, outside the repo"},
    {"location", "user", "\"global\" is another way to say global"},
    {"link", "false", "npm 6 links packages through the prefix", true, kAlways, kNpm7},
    // Files and directories.
    {"cache", "~/.npm", "names a directory that is written and believed", true},
    {"logs-dir", "~/.npm/_logs", "names a directory in which files are written and removed", true},
    {"tmp", "/tmp", "npm 6 names a directory that is written", false, kAlways, kNpm7},
    {"pack-destination", ".", "names the directory npm pack writes to", true},
    {"cafile", "/dev/null", "names a file of certificates to believe", true},
    {"strict-ssl", "true", "\"false\" believes every server, and sends it the operator's token", true},
    // Other configurations.
    {"userconfig", "~/.npmrc", "names another configuration file"},
    // Not needed here, and npm asks a server for it at every install.
    {"audit", "false", "sends the list of packages to the registry", true},
    {"fund", "false", "adds text to the output", true},
    {"update-notifier", "false", "asks the registry for a newer npm", true},
});

constexpr auto kLayoutPins = std::to_array<NpmPin>({
    {"globalconfig", "PREFIX/etc/npmrc", "names another configuration file"},
    {"prefix", "the directory above node's", "moves the global configuration and global installs"},
    {"node-gyp", "npm's own", "names the program that compiles addons", false, {11, 3}},
    {"global-ignore-file", "PREFIX/etc/npmignore", "names a file that npm pack reads", false, {12, 0}},
});

constexpr auto kUnreachable = std::to_array<std::string_view>(
    {"init.module", "provenance-file", "provenance", "extension-file", "edit-dir", "keep-edit-dir", "patches-dir",
     "ignore-existing", "to", "package", "metrics-registry"});

constexpr auto kNpmKeysFlags = std::to_array<std::string_view>({"all",
                                                                "allow-same-version",
                                                                "allow-scripts-pending",
                                                                "allow-scripts-pin",
                                                                "allow-unused-patches",
                                                                "always-auth",
                                                                "bin-links",
                                                                "bypass-2fa",
                                                                "color",
                                                                "commit-hooks",
                                                                "description",
                                                                "dev",
                                                                "diff-ignore-all-space",
                                                                "diff-name-only",
                                                                "diff-no-prefix",
                                                                "diff-text",
                                                                "dry-run",
                                                                "engine-strict",
                                                                "expect-results",
                                                                "force",
                                                                "foreground-scripts",
                                                                "format-package-lock",
                                                                "git-tag-version",
                                                                "global-style",
                                                                "if-present",
                                                                "ignore-patch-failures",
                                                                "ignore-prepublish",
                                                                "include-attestations",
                                                                "include-staged",
                                                                "include-workspace-root",
                                                                "init-private",
                                                                "install-links",
                                                                "json",
                                                                "legacy-bundling",
                                                                "legacy-peer-deps",
                                                                "long",
                                                                "offline",
                                                                "omit-lockfile-registry-resolved",
                                                                "optional",
                                                                "package-lock",
                                                                "package-lock-only",
                                                                "packages-all",
                                                                "parseable",
                                                                "prefer-dedupe",
                                                                "prefer-offline",
                                                                "prefer-online",
                                                                "production",
                                                                "progress",
                                                                "read-only",
                                                                "rebuild-bundle",
                                                                "save",
                                                                "save-bundle",
                                                                "save-dev",
                                                                "save-exact",
                                                                "save-optional",
                                                                "save-peer",
                                                                "save-prod",
                                                                "send-metrics",
                                                                "shrinkwrap",
                                                                "sign-git-commit",
                                                                "sign-git-tag",
                                                                "strict-allow-scripts",
                                                                "strict-npmrc",
                                                                "strict-peer-deps",
                                                                "timing",
                                                                "unicode",
                                                                "usage",
                                                                "version",
                                                                "versions",
                                                                "workspaces",
                                                                "workspaces-update",
                                                                "yes"});

// Keys that some version since 7 does not know, or whose value is a package: then the next word is a package argument.
constexpr auto kOneWord = std::to_array<std::string_view>({"allow-directory",
                                                           "allow-file",
                                                           "allow-scripts",
                                                           "ci-name",
                                                           "cpu",
                                                           "diff",
                                                           "expect-result-count",
                                                           "expires",
                                                           "init-type",
                                                           "install-strategy",
                                                           "libc",
                                                           "lockfile-version",
                                                           "min-release-age",
                                                           "min-release-age-exclude",
                                                           "name",
                                                           "node-version",
                                                           "npm-version",
                                                           "orgs",
                                                           "orgs-permission",
                                                           "os",
                                                           "packages",
                                                           "packages-and-scopes-permission",
                                                           "password",
                                                           "replace-registry-host",
                                                           "sbom-format",
                                                           "sbom-type",
                                                           "scopes",
                                                           "sso-poll-frequency",
                                                           "sso-type",
                                                           "token-description"});

// "ca", "registry", "proxy" and similar keys choose which servers npm contacts and trusts, as packages themselves do.
// Egress rules limit which hosts it reaches, whatever these keys say.
constexpr auto kValued = std::to_array<std::string_view>({"_auth",
                                                          "access",
                                                          "also",
                                                          "audit-level",
                                                          "auth-type",
                                                          "before",
                                                          "ca",
                                                          "cache-max",
                                                          "cache-min",
                                                          "cert",
                                                          "cidr",
                                                          "depth",
                                                          "diff-dst-prefix",
                                                          "diff-src-prefix",
                                                          "diff-unified",
                                                          "fetch-retries",
                                                          "fetch-retry-factor",
                                                          "fetch-retry-maxtimeout",
                                                          "fetch-retry-mintimeout",
                                                          "fetch-timeout",
                                                          "heading",
                                                          "https-proxy",
                                                          "include",
                                                          "init-author-email",
                                                          "init-author-name",
                                                          "init-author-url",
                                                          "init-license",
                                                          "init-version",
                                                          "init.author.email",
                                                          "init.author.name",
                                                          "init.author.url",
                                                          "init.license",
                                                          "init.version",
                                                          "key",
                                                          "local-address",
                                                          "loglevel",
                                                          "logs-max",
                                                          "maxsockets",
                                                          "message",
                                                          "noproxy",
                                                          "omit",
                                                          "only",
                                                          "otp",
                                                          "preid",
                                                          "proxy",
                                                          "registry",
                                                          "save-prefix",
                                                          "scope",
                                                          "searchexclude",
                                                          "searchlimit",
                                                          "searchopts",
                                                          "searchstaleness",
                                                          "tag",
                                                          "tag-version-prefix",
                                                          "umask",
                                                          "user-agent",
                                                          "which",
                                                          "workspace"});

}  // namespace

std::span<const NpmPin> npm_pins() { return kPins; }
std::span<const NpmPin> npm_layout_pins() { return kLayoutPins; }
std::span<const std::string_view> npm_unreachable_keys() { return kUnreachable; }
std::span<const std::string_view> npm_flag_keys() { return kNpmKeysFlags; }
std::span<const std::string_view> npm_one_word_keys() { return kOneWord; }
std::span<const std::string_view> npm_valued_keys() { return kValued; }

std::string npm_variable(std::string_view key) {
  std::string name = "npm_config_";
  name += key;
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace sallyport::hardening
