#include "support/temp_dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "support/program.h"

namespace sallyport::test {
namespace {

namespace fs = std::filesystem;

std::string git(const fs::path& dir, std::vector<std::string> args, const std::optional<PlainUser>& user) {
  args.insert(args.begin(), "/usr/bin/git");
  const ProgramResult result =
      run_program(args, {.cwd = dir,
                         .environment = Environment{{"PATH", "/usr/bin:/bin"},
                                                    {"HOME", dir.string()},
                                                    {"GIT_CONFIG_NOSYSTEM", "1"},
                                                    {"GIT_AUTHOR_NAME", "A"},
                                                    {"GIT_AUTHOR_EMAIL", "a@example.invalid"},
                                                    {"GIT_COMMITTER_NAME", "A"},
                                                    {"GIT_COMMITTER_EMAIL", "a@example.invalid"}},
                         .stdin_bytes = {},
                         .user = user});
  if (result.exit_code != 0) {
    fprintf(stderr, "git %s: %s\n", args[1].c_str(), result.stderr_bytes.c_str());
    abort();
  }
  return result.stdout_bytes;
}

}  // namespace

TempDir::TempDir(const std::optional<PlainUser>& user) {
  std::string name = (fs::temp_directory_path() / "sallyport-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    perror("mkdtemp");
    abort();
  }
  path_ = fs::canonical(name);
  chmod(path_.c_str(), 0755);
  give_to(path_, user);
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void write_file(const fs::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}

std::string read_file(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(out).str();
}

std::string make_git_repo(const fs::path& dir, const std::optional<PlainUser>& user) {
  fs::create_directories(dir);
  give_to(dir, user);
  git(dir, {"init", "--quiet", "--initial-branch=main"}, user);
  write_file(dir / "README", "hello\n");
  give_to(dir / "README", user);
  git(dir, {"add", "README"}, user);
  git(dir, {"commit", "--quiet", "-m", "one"}, user);
  std::string head = git(dir, {"rev-parse", "HEAD"}, user);
  while (!head.empty() && head.back() == '\n') head.pop_back();
  return head;
}

}  // namespace sallyport::test
