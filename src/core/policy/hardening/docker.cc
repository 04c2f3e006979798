// docker passes every request to a daemon that is root: a mount, a device or a shared namespace would give the host
// away. So commands, options and operands are closed tables, and we read every argument as docker's own parser (pflag)
// does.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/policy/hardening/docker_tables.h"
#include "core/policy/hardening/facts.h"
#include "core/policy/hardening/hardeners.h"
#include "core/policy/hardening/options.h"
#include "core/text/did_you_mean.h"

namespace sallyport::hardening {
namespace {

constexpr std::array<std::string_view, 4> kDockerAlone = {"--version", "-v", "--help", "help"};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

bool is_own_container(std::string_view name) {
  return name.starts_with(kDockerOwnPrefix) && name.size() > kDockerOwnPrefix.size() &&
         std::ranges::all_of(name, is_name_char);
}

// With a tag, without a registry's name in front.
bool is_own_image(std::string_view name) { return is_own_container(name.substr(0, name.find(':'))); }

bool is_inside(std::string_view path) {
  if (path.empty() || path.starts_with('/') || path == "-" || path.find("://") != std::string_view::npos) return false;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (path.substr(0, slash) == "..") return false;
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return true;
}

// docker clones these as a repo, even if a directory has the name.
bool is_remote_context(std::string_view context) {
  constexpr std::array<std::string_view, 6> kRemote = {"http:", "https:", "git:", "git@", "ssh:", "github.com/"};
  return std::ranges::any_of(kRemote, [&](std::string_view prefix) { return context.starts_with(prefix); }) ||
         context.find(".git#") != std::string_view::npos;
}

// A path inside the repo may be a symlink to anywhere, and the daemon follows it; the working directory itself was
// resolved by the gate, which also checks that a whole path is that directory. Read-only, because this code cannot see
// whether the repo may be written.
bool is_harmless_volume(std::string_view value) {
  if (value.find(':') == std::string_view::npos) return value.starts_with('/');  // anonymous, ends with the container
  return (value.starts_with(".:/") ||
          (value.starts_with('/') && value.find(":/", 1) != std::string_view::npos && value[1] != ':')) &&
         value.ends_with(":ro") && std::ranges::count(value, ':') == 2;
}

struct Rule {
  bool holds;
  std::string_view why;
  std::string_view hint = "leave it out";
};

Rule rule_for(DockerValue kind, std::string_view value) {
  switch (kind) {
    case DockerValue::kAny:
      return {true, ""};
    case DockerValue::kFlag:
      return {value == "true" || value == "false", "a flag is true or false"};
    case DockerValue::kNoNetwork:
      return {value == "none", "containers get no network"};
    case DockerValue::kPrivileges:
      return {value == "no-new-privileges" || value == "no-new-privileges:true" || value == "no-new-privileges=true",
              "it weakens the container"};
    case DockerValue::kPrivateIpc:
      return {value == "none" || value == "private", "it shares memory with others"};
    case DockerValue::kVolume:
      return {is_harmless_volume(value), "it opens a path of the host or another container's data",
              "mount the working directory, read-only: -v $PWD:/src:ro"};
    case DockerValue::kFileInside:
      return {is_inside(value), "it names a file outside the working directory", "use a relative path without .."};
    case DockerValue::kOwnName:
      return {is_own_container(value), "a container made here has a name of its own kind", "begin it with sallyport-"};
    case DockerValue::kPlainLabel:
      return {!value.starts_with("sallyport."), "it would forge the mark of what the gate has made"};
    case DockerValue::kBuildArg:
      return {!value.starts_with("BUILDKIT_"), "BuildKit obeys it"};
    case DockerValue::kContainer:
      return {value == "container", "only containers may be inspected", "use docker image inspect"};
  }
  return {false, "unknown"};
}

// One command's arguments.
class Parser {
 public:
  Parser(const DockerCommand& command, Argv words) : command_(command), words_(words) {}

  Status run() {
    const bool ends_at_operand = command_.operands == DockerOperands::kImageAndCommand;
    for (; at_ < words_.size(); ++at_) {
      const std::string_view word = words_[at_];
      if (word == "--") {
        ++at_;
        break;
      }
      if (is_option(word)) {
        TRY(is_long(word) ? check_long(word) : check_cluster(word));
      } else {
        if (ends_at_operand) break;
        operands_.push_back(word);
      }
    }
    for (; at_ < words_.size(); ++at_) operands_.push_back(words_[at_]);
    return check_operands();
  }

  [[nodiscard]] bool gave_network() const { return gave_network_; }
  [[nodiscard]] std::vector<FileRule> take_files() { return std::move(files_); }

 private:
  static std::unexpected<Error> refuse(std::string_view word, std::string_view why, std::string_view hint) {
    return fail(refused_argument("docker", word, why, hint));
  }
  static std::unexpected<Error> refuse_unknown(std::string_view word) {
    return refuse(word, "not one of the options known to keep the container closed", "leave it out");
  }

  Status check_value(const DockerOption& option, std::string_view value) {
    const Rule rule = rule_for(option.value, value);
    if (option.value == DockerValue::kNoNetwork) gave_network_ = true;
    if (rule.holds && option.value == DockerValue::kVolume) add_mounted(value);
    if (rule.holds && option.value == DockerValue::kFileInside) add_read(value, "docker build -f");
    if (rule.holds) return {};
    return refuse(fmt::format("--{} {}", option.name, value), rule.why, rule.hint);
  }

  void add_mounted(std::string_view volume) {
    const std::size_t colon = volume.find(':');
    if (colon == std::string_view::npos || volume.front() != '/') return;
    files_.push_back({.kind = FileRule::Kind::kWorkingDirectory,
                      .path = std::string(volume.substr(0, colon)),
                      .what = "docker -v",
                      .hint = "mount the working directory, read-only: -v $PWD:/src:ro"});
  }

  // docker follows a symlink in the repo, and sends its target to the daemon.
  void add_read(std::string_view path, std::string_view what) {
    names_dockerfile_ = names_dockerfile_ || what.ends_with("-f");
    files_.push_back({.kind = FileRule::Kind::kInsideRepo,
                      .path = std::string(path),
                      .what = std::string(what),
                      .hint = "use a directory and a Dockerfile of the repo"});
  }

  Status check_context() {
    const bool is_one = operands_.size() == 1 && is_inside(operands_.front()) && !is_remote_context(operands_.front());
    if (!is_one) {
      return refuse(operands_.size() > 1 ? operands_[1]
                    : operands_.empty()  ? command_.name
                                         : operands_.front(),
                    "a build takes one context, a directory of the repo", "use . or a relative path without ..");
    }
    add_read(operands_.front(), "docker build");
    if (!names_dockerfile_) add_read(fmt::format("{}/Dockerfile", operands_.front()), "docker build");
    return {};
  }

  // Checks the next word as the value of an option.
  Status check_next(const DockerOption& option) {
    if (option.value == DockerValue::kFlag) return {};
    if (at_ + 1 >= words_.size()) {
      return refuse(fmt::format("--{}", option.name), "its value is missing", "give it one");
    }
    return check_value(option, words_[++at_]);
  }

  Status check_long(std::string_view word) {
    const LongOption parts = split_long(word);
    const auto option = std::ranges::find(command_.options, parts.name.substr(2), &DockerOption::name);
    if (option == command_.options.end()) return refuse_unknown(word);
    return parts.has_value ? check_value(*option, parts.value) : check_next(*option);
  }

  // "-it", "-vVALUE", "-v=VALUE", "-itv VALUE".
  Status check_cluster(std::string_view word) {
    for (std::string_view rest = word.substr(1); !rest.empty();) {
      const auto option = std::ranges::find(command_.options, rest.front(), &DockerOption::letter);
      if (option == command_.options.end()) return refuse_unknown(word);
      rest.remove_prefix(1);
      if (rest.starts_with('=')) return check_value(*option, rest.substr(1));
      if (option->value == DockerValue::kFlag) continue;
      return rest.empty() ? check_next(*option) : check_value(*option, rest);
    }
    return {};
  }

  Status check_each(bool (*is_ours)(std::string_view), std::string_view why) const {
    if (operands_.empty()) return refuse(command_.name, "it names nothing to act on", "name it");
    for (const std::string_view name : operands_) {
      if (!is_ours(name)) return refuse(name, why, "name it sallyport-… when you make it");
    }
    return {};
  }

  [[nodiscard]] Status check_operands() {
    const bool has_more = operands_.size() > 1;
    switch (command_.operands) {
      case DockerOperands::kImageAndCommand:
        if (!operands_.empty() && !is_option(operands_.front())) return {};
        return refuse(command_.name, "it names no image", "name the image behind the options");
      case DockerOperands::kImages:
        return {};
      case DockerOperands::kNone:
        if (operands_.empty()) return {};
        return refuse(operands_.front(), "the command takes options only", "leave it out");
      case DockerOperands::kImage:
        if (operands_.size() == 1) return {};
        return refuse(has_more ? operands_[1] : command_.name, "it takes one image", "name one");
      case DockerOperands::kContext:
        return check_context();
      case DockerOperands::kContainers:
        return check_each(is_own_container, "not a container this gate has made");
      case DockerOperands::kOwnImages:
        return check_each(is_own_image, "not an image named by this gate's callers");
    }
    return {};
  }

  const DockerCommand& command_;
  Argv words_;
  std::size_t at_ = 0;
  std::vector<std::string_view> operands_;
  bool gave_network_ = false;
  bool names_dockerfile_ = false;
  std::vector<FileRule> files_;
};

// The words of the command: "run", or "container run".
Result<const DockerCommand*> find_command(Argv arguments) {
  const std::string_view first = arguments.front();
  const bool grouped = first == "container" || first == "image";
  const std::string_view name = grouped ? (arguments.size() > 1 ? std::string_view(arguments[1]) : "") : first;
  const DockerCommand* const command = find_docker_command(grouped ? first : "", name);
  if (command != nullptr) return command;
  const std::string suggestion = did_you_mean(name, docker_command_names());
  return fail(refused_argument(
      "docker", name, "not one of the commands docker may run here",
      suggestion.empty() ? fmt::format("known: {}", fmt::join(docker_command_names(), ", ")) : suggestion));
}

// BuildKit lets a Dockerfile name the image that interprets it ("# syntax="), which makes that image a client of the
// daemon, and it cannot be turned off. The classic builder has neither that nor RUN's --mount, --security and
// --network.
std::vector<EnvVar> docker_env() { return {{.name = "DOCKER_BUILDKIT", .value = "0"}}; }

Result<HardenedCommand> harden_docker(Argv argv) {
  const Argv arguments = argv.subspan(1);
  const bool alone = arguments.empty() || (arguments.size() == 1 && is_one_of(kDockerAlone, arguments.front()));
  if (alone) return HardenedCommand{.argv = {argv.begin(), argv.end()}, .env = docker_env()};
  if (is_option(arguments.front())) {
    return fail(refused_argument("docker", arguments.front(),
                                 "options before the command choose another daemon or configuration",
                                 "put the command first"));
  }
  const DockerCommand& command = *TRY(find_command(arguments));
  const std::size_t words = command.name == arguments.front() ? 1 : 2;
  Parser parser(command, arguments.subspan(words));
  TRY(parser.run());
  // docker refuses a network named twice.
  const std::size_t skip = parser.gave_network() && !command.forced.empty() ? 1 : 0;
  return HardenedCommand{.argv = insert_after(argv, words, command.forced.subspan(skip)),
                         .env = docker_env(),
                         .files = parser.take_files()};
}

std::vector<HardeningFact> docker_facts() {
  using Kind = HardeningFact::Kind;
  return {
      {Kind::kForced, "run, create: --network=none", "a container would reach the network"},
      {Kind::kForced, "run, create: --cap-drop=ALL", "a container would hold capabilities"},
      {Kind::kForced, "run, create: --security-opt=no-new-privileges", "set-id programs would gain rights"},
      {Kind::kForced, "run, create: --label=sallyport.gate=1", "what the gate made could not be recognised"},
      {Kind::kForced, "build: --label=sallyport.image=1", "what the gate made could not be recognised"},
      {Kind::kForced, "build: --network=none", "a Dockerfile's RUN would reach the network"},
      {Kind::kForced, "ps: --filter=label=sallyport.gate", "every container of the host would be listed"},
      {Kind::kForced, "DOCKER_BUILDKIT=0", "a Dockerfile's \"# syntax=\" would run an image as a client of the daemon"},
      {Kind::kRefused, "options before the command", "they choose another daemon or configuration"},
      {Kind::kRefused, "commands that are not listed (exec, attach, cp, compose, plugins and others)",
       "they reach other containers, host files or the daemon's settings"},
      {Kind::kRefused, "options that are not listed, before or behind the operands",
       "mounts, devices, namespaces, secrets, outputs and entitlements give the host away"},
      {Kind::kRefused, "run -v other than an anonymous volume or the working directory, read-only",
       "it opens a path of the host"},
      {Kind::kRefused, "run --name without sallyport- in front",
       "it could be mistaken for one of the host's containers"},
      {Kind::kRefused, "build contexts and -f outside the working directory, also by a symlink, URLs, -",
       "files of the host or of strangers would be sent to the daemon"},
      {Kind::kRefused, "start, stop, kill, rm, wait, logs, inspect, top, diff of other names",
       "they reach every container of the host"},
      {Kind::kRefused, "build --build-arg BUILDKIT_…", "BuildKit obeys it"},
      {Kind::kNeutralised, "# syntax= in a Dockerfile", "it names a program that builds, with the daemon's rights"},
      {Kind::kNeutralised, "RUN --mount, --security, --network in a Dockerfile", "they ask for secrets and rights"},
  };
}

AdmittedWords docker_admitted() {
  AdmittedWords words;
  for (const std::string_view name : docker_command_names()) {
    words.commands.emplace_back(name);
    for (const DockerOption& option : find_docker_command("", name)->options) {
      words.options.push_back(fmt::format("{} --{}", name, option.name));
    }
  }
  return words;
}

}  // namespace

extern constinit const HardeningRow kDockerHardening{
    .name = "docker", .harden = by_argv<harden_docker>, .facts = docker_facts, .admitted = docker_admitted};

}  // namespace sallyport::hardening
