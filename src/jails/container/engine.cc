#include "jails/container/engine.h"

#include <fcntl.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "core/errors.h"
#include "os/file.h"
#include "spawn/owner/helper_run.h"
#include "spawn/owner/supervise.h"

namespace sallyport::container {
namespace {

using namespace std::chrono_literals;

// An engine under load answers slowly; one that hangs must not block the caller for long.
constexpr std::chrono::milliseconds kTimeToAnswer = 20s;
constexpr ByteCount kLongestAnswer = mebibytes(8);

std::vector<std::string> environment_of(const ContainerOptions& options) {
  // Where engines find the programs that they start: conmon, runc, newuidmap.
  std::vector<std::string> environment = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};
  for (const EnvVar& var : options.environment) environment.push_back(var.name + "=" + var.value);
  return environment;
}

class Question final : public StagedRun {
 public:
  Question(spawn::JailSupply& supply, spawn::LaunchSpec launch) : supply_(supply), launch_(std::move(launch)) {}
  [[nodiscard]] std::vector<Established> would_establish() const override { return {}; }
  [[nodiscard]] Result<std::unique_ptr<LiveRun>> start(const ToolStreams& streams) override {
    return spawn::start_run(supply_, launch_, streams);
  }

 private:
  spawn::JailSupply& supply_;
  const spawn::LaunchSpec launch_;
};

bool leads_elsewhere(std::string_view word) {
  constexpr auto kElsewhere = std::to_array<std::string_view>({"tcp://", "ssh://", "http://", "https://", "npipe://"});
  constexpr auto kOptions =
      std::to_array<std::string_view>({"--remote", "-r", "--url", "--connection", "--context", "-c"});
  return std::ranges::any_of(kElsewhere, [&](std::string_view one) { return word.find(one) != word.npos; }) ||
         std::ranges::any_of(kOptions, [&](std::string_view one) {
           return word == one || (word.starts_with(one) && word.substr(one.size()).starts_with('='));
         });
}

}  // namespace

Engine::Engine(spawn::JailSupply& supply, const ContainerOptions& options, Executable client)
    : supply_(supply),
      options_(options),
      client_(std::move(client)),
      root_(open_path("/", O_PATH | O_DIRECTORY).value_or(UniqueFd())),
      environment_(environment_of(options)) {}

std::string Answer::why() const {
  const std::size_t error = err.find("Error");
  const std::size_t before = error == std::string::npos ? std::string::npos : err.rfind('\n', error);
  const std::size_t from = before == std::string::npos ? 0 : before + 1;
  return err.substr(from, err.find('\n', from) - from);
}

Result<Answer> Engine::ask(const std::vector<std::string>& words) const {
  spawn::LaunchSpec launch;
  launch.argv = {std::string(program_of(options_.engine))};
  launch.argv.insert(launch.argv.end(), options_.engine_arguments.begin(), options_.engine_arguments.end());
  launch.argv.insert(launch.argv.end(), words.begin(), words.end());
  launch.env = environment_;
  launch.place = spawn::NoJailPlace{.exe_fd = client(), .cwd_fd = root_directory(), .is_engine = true};
  Question question(supply_, std::move(launch));
  const spawn::Supervision supervision{.wall = kTimeToAnswer, .max_output = kLongestAnswer, .jail = kContainerJail};
  spawn::Ended ended = TRY(spawn::supervise(question, supervision, {}));
  if (ended.by != spawn::EndedBy::kItself) {
    return fail(jail_unavailable(kContainerJail, std::string(program_of(options_.engine)) + " does not answer",
                                 "is its daemon alive?"));
  }
  return Answer{.agreed = ended.wait_status == 0,
                .out = std::move(ended.stdout_stream.bytes),
                .err = std::move(ended.stderr_stream.bytes)};
}

Status Engine::remove_container(const std::string& name) const {
  const Answer answer = TRY(ask({"rm", "--force", "--volumes", name}));
  const bool was_gone = answer.err.find("o such container") != std::string::npos;
  if (answer.agreed || was_gone) return {};
  return fail(jail_unavailable(kContainerJail, "a container is left: " + name, answer.why()));
}

bool runs_here(const ContainerOptions& options) {
  return std::ranges::none_of(options.engine_arguments, leads_elsewhere) &&
         std::ranges::none_of(options.environment, [](const EnvVar& var) { return leads_elsewhere(var.value); });
}

}  // namespace sallyport::container
