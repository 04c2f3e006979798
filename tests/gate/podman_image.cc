#include "gate/podman_image.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "support/installed.h"
#include "support/program.h"

namespace sallyport::test {
namespace {

namespace fs = std::filesystem;

void run_or_abort(const std::vector<std::string>& command) {
  const ProgramResult done = run_program(command, {});
  if (done.exit_code == 0) return;
  std::fprintf(stderr, "%s: %s\n", command.front().c_str(), done.stderr_bytes.c_str());
  std::abort();
}

}  // namespace

PodmanImage::PodmanImage() {
  const fs::path root = dir_ / "image";
  fs::create_directories(root / "usr" / "bin");
  fs::create_directory(root / "tmp");
  for (const fs::directory_entry& tool : fs::directory_iterator(misbehave_dir())) {
    if (tool.is_regular_file()) fs::copy_file(tool.path(), root / "usr" / "bin" / tool.path().filename());
  }
  const std::string archive = dir_ / "image.tar";
  run_or_abort({"/usr/bin/tar", "-C", root.string(), "-cf", archive, "."});
  podman({"import", archive, "misbehave:test"});
}

PodmanImage::~PodmanImage() { podman({"system", "reset", "--force"}); }

void PodmanImage::podman(std::vector<std::string> words) const {
  std::vector<std::string> command = {"/usr/bin/podman"};
  for (const std::string& argument : options().engine_arguments) command.push_back(argument);
  command.insert(command.end(), words.begin(), words.end());
  run_or_abort(command);
}

// crun, Podman's usual runtime, needs a pure cgroup v2 host; runc also knows v1.
ContainerOptions PodmanImage::options() const {
  return {.image = "misbehave:test",
          .engine_arguments = {"--root", dir_ / "root", "--runroot", dir_ / "run", "--tmpdir", dir_ / "tmp",
                               "--runtime", "runc", "--cgroup-manager", "cgroupfs", "--events-backend", "file"}};
}

}  // namespace sallyport::test
