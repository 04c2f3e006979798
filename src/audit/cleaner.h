// What strangers and callers chose, on its way into a record: redacted, and bounded, each text and all of them together.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/audit/redact.h"
#include "core/json/json.h"

namespace sallyport::audit {

// Of one record. The bounds keep it below kLongestRecord, whatever it is given: a byte takes up to six as JSON.
class Cleaner {
 public:
  // What is taken out of the command is also taken out of texts that quote it.
  explicit Cleaner(std::span<const std::string> argv) : redacted_(redact_argv(argv)) {}

  [[nodiscard]] const RedactedArgv& redacted() const { return redacted_; }

  // Redacted first, so that no cut goes through what a rule would have known.
  [[nodiscard]] Json text(std::string_view bytes);
  // Every string of a tree, and no list longer than a bound; what is left out is counted.
  [[nodiscard]] Json tree(Json value);
  [[nodiscard]] Json paths(const std::vector<std::filesystem::path>& paths);
  [[nodiscard]] Json argv();

 private:
  [[nodiscard]] Json bounded(std::string kept);

  RedactedArgv redacted_;
  std::size_t left_ = std::size_t{64} * 1024;
};

}  // namespace sallyport::audit
