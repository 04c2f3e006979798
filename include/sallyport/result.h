// Result<T>: a value, or the reason (error.h) why the environment prevented it.
//
// std::expected in libstdc++ 12 is not [[nodiscard]], so an ignored failure would compile. This type
// closes that hole and is otherwise the standard one. Use SALLYPORT_TRY() to pass a failure on:
//
//   Result<std::string> manifest_of(const SandboxedPath& repo) {
//     std::string text = SALLYPORT_TRY(repo.read_file("package.json", mebibytes(1)));   // returns the error to our caller
//     return text.empty() ? "{}" : text;
//   }
//
// The errors, and that they are no fate of a tool: docs/contract.md, C11.
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

// The project's only macro: a statement expression cannot be a function, because it returns from its caller. Our own targets
// are compiled with TRY as its short name (cmake/SallyportLayer.cmake); no installed header defines that.
#define SALLYPORT_TRY(expression)                                                                 \
  __extension__({                                                                                 \
    auto sallyport_try_result = (expression);                                                     \
    if (!sallyport_try_result) return ::sallyport::fail(std::move(sallyport_try_result).error()); \
    *std::move(sallyport_try_result);                                                             \
  })
