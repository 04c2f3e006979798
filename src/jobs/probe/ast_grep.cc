// ast-grep with the rules that lint has too.
#include "jobs/report/ast_grep.h"

#include "jobs/probe/all.h"

namespace sallyport::jobs {
namespace {

std::vector<RuleInfo> probe_rules() { return {ast_grep_rules().begin(), ast_grep_rules().end()}; }

ScannerOutcome run_ast_grep_probe(const ProbeInput& input) {
  return run_ast_grep(*input.context, "ast_grep", *input.files, std::nullopt);
}

}  // namespace

extern constinit const Probe kAstGrep{.name = "ast_grep",
                                      .tool = "ast-grep",
                                      .summary = "process creation and code made from data, by syntax tree",
                                      .rules = probe_rules,
                                      .run = run_ast_grep_probe};

}  // namespace sallyport::jobs
