// The parts before and after the streams in a run's record.
#pragma once

#include <nlohmann/json.hpp>

#include "core/json/json.h"

namespace sallyport {

struct RunRecordParts {
  Json before;
  Json after;
};
[[nodiscard]] RunRecordParts run_record_parts(const JailedSubprocessResult& result);

}  // namespace sallyport
