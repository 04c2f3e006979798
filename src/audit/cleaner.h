// Cleans text that untrusted parties and callers chose, for a record: redacts it, and bounds each text and all of them
// together.
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

// For one record. The bounds keep it below kLongestRecord for any input: a byte takes up to six as JSON.
class Cleaner {
 public:
  // Removes the command's secrets from texts that quote it, too.
  explicit Cleaner(std::span<const std::string> argv) : redacted_(redact_argv(argv)) {}

  [[nodiscard]] const RedactedArgv& redacted() const { return redacted_; }

  // Redacts first, so that no cut splits a secret that a rule would find.
  [[nodiscard]] Json text(std::string_view bytes);
  // Cleans every string of a tree, and shortens lists to a bound; it counts what it leaves out.
  [[nodiscard]] Json tree(Json value);
  [[nodiscard]] Json paths(const std::vector<std::filesystem::path>& paths);
  [[nodiscard]] Json argv();

 private:
  [[nodiscard]] Json bounded(std::string kept);

  RedactedArgv redacted_;
  std::size_t left_ = std::size_t{64} * 1024;
};

}  // namespace sallyport::audit
