#include "gate/gate_fixture.h"

#include <cstdio>
#include <cstdlib>

namespace sallyport::test {

void RecordingSink::emit(const Event& event) {
  std::string text(event.name);
  for (const auto& [field, value] : event.fields) {
    text += " ";
    text += field;
    text += "=" + value;
  }
  const std::scoped_lock lock(mutex_);
  seen_.emplace_back(event.name, std::move(text));
}

std::vector<std::string> RecordingSink::named(std::string_view name) const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> found;
  for (const auto& [seen, text] : seen_) {
    if (seen == name) found.push_back(text);
  }
  return found;
}

GateTest::GateTest() : repo_(dir_ / "repo") { std::filesystem::create_directory(repo_); }

GateConfig GateTest::config() {
  const Result<Allowlist> admitted = Allowlist::from_policy(
      policy_admitting({"burn_cpu",      "change_tree", "connect_through", "die_by_signal", "eat_memory",
                        "escape_daemon", "exit_with",   "fill_scratch",    "leave_mark",    "print_args",
                        "print_bytes",   "print_cwd",   "print_env",       "print_fds",     "print_stdin",
                        "sleep_forever", "sleep_tree",  "write_to",        "not_installed", "git"}),
      "test policy");
  EXPECT_TRUE(admitted.has_value());
  return {.repo = repo_,
          .allowlist = *admitted,
          .search_path = {misbehave_dir(), "/usr/bin", "/bin"},
          .base_env = {{"PATH", "/usr/bin:/bin"}, {"HOME", dir_.path().string()}, {"AWS_SECRET_ACCESS_KEY", "canary"}},
          .cache_dir = {},
          .events = &events_};
}

std::unique_ptr<Gate> GateTest::open_gate() {
  Result<std::unique_ptr<Gate>> gate = Gate::open(config());
  EXPECT_TRUE(gate.has_value());
  return *std::move(gate);
}

JailedSubprocessSpec GateTest::spec(std::vector<std::string> argv) const {
  return {.argv = std::move(argv), .repo = repo_, .cwd = repo_, .limits = {.wall = std::chrono::seconds(60)}};
}

JailedSubprocessResult GateTest::run(Gate& gate, const JailedSubprocessSpec& what, JailKind jail) const {
  Result<JailedSubprocessResult> result = gate.run(what, jail, {});
  if (!result) {
    std::fprintf(stderr, "refused: %s (%s)\n", result.error().message.c_str(), result.error().hint.c_str());
    std::abort();
  }
  return *std::move(result);
}

std::string jail_name(const testing::TestParamInfo<JailKind>& info) { return std::string(info.param.name()); }

int exit_code(const JailedSubprocessResult& result) {
  const auto* completed = std::get_if<Completed>(&result.outcome);
  if (completed == nullptr) return -1;
  const auto* code = std::get_if<ExitCode>(&completed->fate);
  return code == nullptr ? -1 : code->value;
}

std::string mechanism_of(const JailedSubprocessResult& result, Guarantee guarantee) {
  for (const Established& entry : result.receipt.established) {
    if (entry.guarantee == guarantee) return std::string(name_of(entry.mechanism));
  }
  return {};
}

}  // namespace sallyport::test
