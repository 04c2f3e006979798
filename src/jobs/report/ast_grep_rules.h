// The rules as data: rules/*.yml, put into the program when it is built, once for each language of their family.
#pragma once

#include <string_view>

#include "jobs/report/finding.h"

namespace sallyport::jobs {

// All of them as ast-grep reads them.
[[nodiscard]] std::string_view ast_grep_rule_text();
[[nodiscard]] const RuleInfo* find_ast_grep_rule(std::string_view id);

}  // namespace sallyport::jobs
