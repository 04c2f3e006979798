// The rules as data: rules/*.yml, put into the program when it is built, once for each language of their family.
#pragma once

#include <string_view>

#include "jobs/report/finding.h"
#include "jobs/report/survey.h"

namespace sallyport::jobs {

// All of them as ast-grep reads them.
[[nodiscard]] std::string_view ast_grep_rule_text();
[[nodiscard]] const RuleInfo* find_ast_grep_rule(std::string_view id);

// A file that ast-grep does not recognise by its extension, and that may be code of a language it knows: a script by its first
// line, C++ by another ending. The extension to show its content under; empty when it is none.
[[nodiscard]] bool may_be_read_as(const SurveyedFile& file);
[[nodiscard]] std::string_view read_as(std::string_view path, std::string_view content);

}  // namespace sallyport::jobs
