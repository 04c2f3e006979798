#include "cli/commit_tree.h"

#include <memory>
#include <optional>

#include "core/bytes/git_object.h"
#include "core/errors.h"
#include "sallyport/gate.h"

namespace sallyport::cli {

Result<std::string> commit_tree(const std::filesystem::path& repo, const std::string& commit,
                                const Environment& environment) {
  constexpr ByteCount kLargestCommit = mebibytes(1);
  const std::unique_ptr<Gate> gate = TRY(Gate::open(gate_config(environment, repo)));
  const JailedSubprocessSpec question{.argv = {"git", "cat-file", "commit", commit},
                                      .repo = repo,
                                      .cwd = repo,
                                      .limits = {.wall = std::chrono::seconds(10), .output = kLargestCommit}};
  const JailedSubprocessResult answer = TRY(gate->run(question, JailKind::kAuto, {}));
  const std::optional<std::string> tree = tree_of_commit(commit, answer.stdout_stream.bytes);
  if (!tree) return fail(invalid_request("commit", "its repo does not have it any more"));
  return *tree;
}

}  // namespace sallyport::cli
