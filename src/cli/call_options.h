// The options that `run` and `explain` share, and the words that stand for their values.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/audit_choice.h"
#include "cli/format.h"
#include "sallyport/container.h"
#include "sallyport/guarantee.h"
#include "sallyport/limits.h"
#include "sallyport/plan.h"
#include "sallyport/result.h"

namespace sallyport::cli {

// Long enough for the install of a large project, short enough that a forgotten run ends.
inline constexpr std::chrono::milliseconds kDefaultTimeout = std::chrono::minutes(10);

enum class StdinChoice { kNull, kOurs, kOursItself };

// One call through the gate, as asked for. Paths are as typed: relative ones count from the current directory.
struct CallOptions {
  std::optional<std::filesystem::path> repo{};
  std::optional<std::filesystem::path> cwd{};
  std::optional<std::filesystem::path> policy{};
  std::chrono::milliseconds timeout = kDefaultTimeout;
  ByteCount max_output = kDefaultMaxOutput;
  std::optional<ByteCount> memory{};
  std::optional<std::uint32_t> pids{};
  std::optional<std::chrono::milliseconds> cpu{};
  std::optional<ByteCount> disk{};
  std::optional<std::string> probe{};
  JailKind jail = JailKind::kAuto;
  ContainerOptions container{};
  std::vector<Guarantee> required{};
  std::vector<std::filesystem::path> read_write{};
  std::vector<std::filesystem::path> read_only{};
  std::vector<std::filesystem::path> hidden{};
  std::vector<std::filesystem::path> no_exec{};
  std::optional<std::uint32_t> open_files{};
  std::chrono::milliseconds grace = StopLadder{}.grace;
  std::optional<std::filesystem::path> receipt{};        // where to write the run's record, besides the normal output
  bool json_stream = false;                              // with Format::kJson: one event a line
  std::optional<std::string> workspace{};                // its name
  std::optional<std::filesystem::path> workspace_dir{};  // where it lives [the user's state directory]
  RepoAccess repo_access = RepoAccess::kReadOnly;
  GitAccess git_access = GitAccess::kProtected;
  Speculation speculation = Speculation::kForbidden;
  std::vector<std::string> allowed_egress{};     // as typed: the gate reads them
  bool allow_registry = false;                   // that of the operator's own npm
  bool registry_auth = false;                    // with the credentials of the operator's own .npmrc
  std::optional<UpstreamProxyText> via_proxy{};  // as typed
  bool proxy_of_environment = false;             // instead: the proxy that the environment names
  std::optional<std::filesystem::path> extra_ca{};
  bool strict_network = false;
  bool allow_unjailed = false;  // also run tools that run the repo's code without a jail
  std::vector<EnvVar> env{};
  StdinChoice stdin_choice = StdinChoice::kNull;
  AuditChoice audit{};
  Format format = Format::kText;
  Verbosity verbosity = Verbosity::kNormal;
  std::vector<std::string> argv{};  // never empty
};

// Reads options up to `--` or the first operand; the rest belongs to the tool. nullopt when the user asked for help.
// `format` as of Verb::parse.
[[nodiscard]] Result<std::optional<CallOptions>> parse_call_options(std::span<const std::string> args, Format& format);

// All of them, as they are typed: for the test that the page of help leaves none out.
[[nodiscard]] std::vector<std::string_view> call_option_names();

}  // namespace sallyport::cli
