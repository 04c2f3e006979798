// The first line of a script, read the way the kernel reads it (fs/binfmt_script.c). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sallyport {

inline constexpr std::size_t kMagicBytes = 256;  // BINPRM_BUF_SIZE: all that the kernel reads

enum class FileKind { kElf, kScript, kOther };
[[nodiscard]] FileKind kind_of(std::string_view first_bytes);

struct Shebang {
  std::string interpreter;             // absolute path; or, when by_name, a bare name to look up in the search path
  bool by_name = false;                // it was "#!/usr/bin/env NAME" or "env -S NAME ARGS…"
  std::vector<std::string> arguments;  // at most one, except after env -S
};

struct ShebangParse {
  std::optional<Shebang> shebang;
  std::string problem;  // set when there is no shebang we are willing to follow
};

[[nodiscard]] ShebangParse parse_shebang(std::string_view first_bytes);

}  // namespace sallyport
