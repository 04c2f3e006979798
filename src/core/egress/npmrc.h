// Reads the credentials for one registry from the operator's own .npmrc.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport {

// What ${NAME} in the file stands for.
using NpmrcVariable = std::function<std::optional<std::string>(const std::string& name)>;

// The header's value ("Bearer …", "Basic …") that npm would send to `registry`: by the keys of its host and path. The
// longest path counts first; an _authToken before a username with its _password, and these before an _auth. Errors:
// InvalidRequest("registry_auth") when there are no credentials, or a variable in them is not set; the message holds no
// part of a value.
[[nodiscard]] Result<std::string> registry_authorization(std::string_view npmrc, std::string_view registry,
                                                         const NpmrcVariable& variable);

// The registry that the file names (`registry=`), if any.
[[nodiscard]] Result<std::optional<std::string>> registry_in(std::string_view npmrc, const NpmrcVariable& variable);

}  // namespace sallyport
