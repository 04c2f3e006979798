// An anonymous file that nobody can change any more: content first, then every seal.
#pragma once

#include <string>
#include <string_view>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

enum class MemfdUse {
  kData,        // never executable (MFD_NOEXEC_SEAL, Linux 6.3)
  kExecutable,  // for fexecve-like use (MFD_EXEC, so that vm.memfd_noexec=1 does not break us)
};

// Sealed against writing, growing, shrinking and unsealing; CLOEXEC; offset at 0. `name` shows up in /proc only.
[[nodiscard]] Result<UniqueFd> sealed_memfd(const std::string& name, std::string_view content, MemfdUse use);

}  // namespace sallyport
