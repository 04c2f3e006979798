// The operator's own .npmrc, read for one thing: the credentials at one registry.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport {

// What ${NAME} in the file stands for.
using NpmrcVariable = std::function<std::optional<std::string>(const std::string& name)>;

// The header's value ("Bearer …", "Basic …") that npm would send to `registry`: by the keys of its host and path, the longest path
// first, an _authToken before a username with its _password, that before an _auth. Errors: InvalidRequest("registry_auth"), without
// any part of a value: there are none, or a variable in them is not set.
[[nodiscard]] Result<std::string> registry_authorization(std::string_view npmrc, std::string_view registry,
                                                         const NpmrcVariable& variable);

// The registry that the file names (`registry=`), if any.
[[nodiscard]] Result<std::optional<std::string>> registry_in(std::string_view npmrc, const NpmrcVariable& variable);

}  // namespace sallyport
