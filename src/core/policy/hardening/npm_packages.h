// What a caller may name as a package: npm also accepts git URLs, tarballs from any host and any path.
#pragma once

#include <string_view>

#include "sallyport/result.h"

namespace sallyport::hardening {

struct NpmSources {
  bool git = false;     // the caller said --allow-git=all or =root
  bool remote = false;  // likewise --allow-remote
};

// `argument` as in `npm install ARGUMENT`, read as npm-package-arg reads it.
[[nodiscard]] Status check_npm_package(std::string_view argument, const NpmSources& allowed);

}  // namespace sallyport::hardening
