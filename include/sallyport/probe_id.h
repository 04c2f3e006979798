// The validated name of a probe: ^[a-z][a-z0-9_]{0,63}$ (docs/contract.md, C12). A value of this type is checked; the
// only error is InvalidProbeName.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "sallyport/result.h"

namespace sallyport {

class ProbeId {
 public:
  [[nodiscard]] static Result<ProbeId> parse(std::string_view text);
  [[nodiscard]] const std::string& str() const { return text_; }

 private:
  explicit ProbeId(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

}  // namespace sallyport
