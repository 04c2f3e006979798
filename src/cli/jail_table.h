// What doctor found out about the jails: one line for each, and a table of guarantee by jail.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "sallyport/error.h"
#include "sallyport/plan.h"
#include "sallyport/receipt.h"

namespace sallyport::cli {

struct JailAnswer {
  JailKind jail;
  std::optional<Error> problem{};          // why it does not work here
  std::vector<Established> established{};  // if it works: what a harmless run had
  std::vector<Established> when_asked{};   // and what runs with more options had
};

[[nodiscard]] Json jails_json(const std::vector<JailAnswer>& jails);
[[nodiscard]] std::string jails_text(const std::vector<JailAnswer>& jails);

}  // namespace sallyport::cli
