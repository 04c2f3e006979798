// What `validate` prints: one record, or a table for people.
#pragma once

#include <string>

#include "core/json/json.h"
#include "jobs/validate/validate.h"

namespace sallyport::cli {

[[nodiscard]] Json validate_record(const jobs::ValidateReport& report, jobs::Severity threshold, int code);
[[nodiscard]] std::string validate_text(const jobs::ValidateReport& report, jobs::Severity threshold);

}  // namespace sallyport::cli
