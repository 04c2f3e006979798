// Result<T>: a value, or the reason the environment did not let us have one.
//
// std::expected in libstdc++ 12 is not [[nodiscard]], so an ignored failure would compile. This type
// closes that hole and is otherwise the standard one. Use TRY() to pass a failure on:
//
//   Result<Pinned> pin(ToolName name) {
//     UniqueFd fd = TRY(open_beneath(root, name));   // returns the error to our caller
//     ...
//   }
#pragma once

#include <expected>
#include <utility>

#include "sallyport/error.h"

namespace sallyport {

template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

using Status = Result<void>;

[[nodiscard]] inline std::unexpected<Error> fail(Error error) { return std::unexpected<Error>(std::move(error)); }

}  // namespace sallyport

// The project's only macro: a statement expression cannot be a function, because it returns from its caller.
#define TRY(expression)                                                       \
  __extension__({                                                             \
    auto try_result = (expression);                                           \
    if (!try_result) return ::sallyport::fail(std::move(try_result).error()); \
    *std::move(try_result);                                                   \
  })
