#include "cli/cli_fixture.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace sallyport::test {

namespace fs = std::filesystem;

CliTest::CliTest() : repo_(dir_ / "repo"), policy_(dir_ / "policy.toml") {
  for (const char* name : {"repo/.git", "repo/sub", "home", "tmp", "cache"}) fs::create_directories(dir_ / name);
  write_file(policy_, policy_admitting({"sleep_forever", "sleep_tree", "escape_daemon", "exit_with", "die_by_signal",
                                        "print_bytes", "print_hex", "print_env", "print_args", "print_cwd", "print_fds",
                                        "print_signals", "print_stdin", "leave_mark", "eat_memory", "not_installed"}));
  environment_ = {{"PATH", misbehave_dir().string() + ":/usr/bin:/bin"},
                  {"HOME", (dir_ / "home").string()},
                  {"LANG", "C.UTF-8"},
                  {"TMPDIR", (dir_ / "tmp").string()},
                  {"XDG_CACHE_HOME", (dir_ / "cache").string()},
                  {"GITHUB_TOKEN", "secret"}};
}

Program CliTest::start_sallyport(const Words& args, ProgramOptions options) const {
  Words argv{sallyport_binary()};
  argv.insert(argv.end(), args.begin(), args.end());
  if (options.cwd.empty()) options.cwd = repo_;
  if (!options.environment) options.environment = environment_;
  return Program::start(argv, options);
}

ProgramResult CliTest::sallyport(const Words& args, ProgramOptions options) const {
  ProgramResult result = start_sallyport(args, std::move(options)).wait();
  for (const std::string* said : {&result.stdout_bytes, &result.stderr_bytes}) {
    const std::string name = api_name_in(*said);
    const auto holds_it = [&](const std::string& word) { return word.find("`" + name + "`") != std::string::npos; };
    EXPECT_TRUE(name.empty() || std::ranges::any_of(args, holds_it)) << name << " in " << *said;
  }
  return result;
}

Words CliTest::helper_command(const Words& tool, const Words& options) const {
  Words args{"run", "--jail", "none", "--policy", policy_.string()};
  args.insert(args.end(), options.begin(), options.end());
  args.emplace_back("--");
  args.insert(args.end(), tool.begin(), tool.end());
  return args;
}

ProgramResult CliTest::run_helper(const Words& tool, const Words& options, ProgramOptions how) const {
  return sallyport(helper_command(tool, options), std::move(how));
}

std::map<std::string, std::uintmax_t> CliTest::everything() const {
  std::map<std::string, std::uintmax_t> found;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(dir_.path(), fs::directory_options::skip_permission_denied)) {
    found[entry.path().string()] = entry.is_regular_file() ? entry.file_size() : 0;
  }
  return found;
}

nlohmann::json record_of(const ProgramResult& result) {
  EXPECT_EQ(std::ranges::count(result.stdout_bytes, '\n'), 1) << result.stdout_bytes << result.stderr_bytes;
  nlohmann::json record = nlohmann::json::parse(result.stdout_bytes, nullptr, false);
  EXPECT_FALSE(record.is_discarded()) << result.stdout_bytes;
  EXPECT_TRUE(record.is_object() && record.contains("schema")) << result.stdout_bytes;
  return record;
}

std::string api_name_in(std::string_view text) {
  for (std::size_t open = text.find('`'); open != std::string_view::npos; open = text.find('`', open + 1)) {
    const std::string_view rest = text.substr(open + 1);
    const std::size_t end =
        std::ranges::find_if_not(
            rest,
            [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == ':' || c == '.' || c == '-'; }) -
        rest.begin();
    if (end > 0 && end < rest.size() && rest[end] == '`') return std::string(rest.substr(0, end));
  }
  return {};
}

void expect_error_with_hint(const ProgramResult& result) {
  EXPECT_EQ(result.stdout_bytes, "");
  EXPECT_TRUE(result.stderr_bytes.starts_with("sallyport: error: ")) << result.stderr_bytes;
  EXPECT_NE(result.stderr_bytes.find("\nhint: "), std::string::npos) << result.stderr_bytes;
  EXPECT_EQ(std::ranges::count(result.stderr_bytes, '\n'), 2) << result.stderr_bytes;
}

}  // namespace sallyport::test
