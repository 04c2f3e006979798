#include "locate/shebang.h"

#include <algorithm>

namespace sallyport {
namespace {

constexpr std::string_view kBlank = " \t";

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string_view first_word(std::string_view text) { return text.substr(0, text.find_first_of(kBlank)); }

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (text = trim(text); !text.empty(); text = trim(text)) {
    const std::string_view word = first_word(text);
    words.emplace_back(word);
    text.remove_prefix(word.size());
  }
  return words;
}

ShebangParse refuse(std::string_view problem) { return {.shebang = std::nullopt, .problem = std::string(problem)}; }

// env gets everything after its own path as one argument. Only the two spellings found in real scripts are followed:
// "env NAME" and "env -S NAME ARGS…"; variables, other options and -S's quoting are refused rather than imitated.
ShebangParse parse_env(std::string_view argument) {
  if (argument.empty()) return refuse("its #! line runs env without a program");
  std::vector<std::string> words;
  if (argument.starts_with("-S") || argument.starts_with("--split-string=")) {
    argument.remove_prefix(argument.starts_with("-S") ? 2 : std::string_view("--split-string=").size());
    if (argument.find_first_of("'\"\\$#") != std::string_view::npos)
      return refuse("its #! line uses quoting with env -S");
    words = words_of(argument);
    if (words.empty()) return refuse("its #! line runs env without a program");
  } else {
    // Without -S the kernel hands "node --flag" over as one word, and env would look for a program of that name.
    if (argument.find_first_of(kBlank) != std::string_view::npos)
      return refuse("its #! line passes arguments through env");
    words = {std::string(argument)};
  }
  const std::string name = words.front();
  if (name.starts_with('-')) return refuse("its #! line uses an option of env");
  if (name.find('=') != std::string::npos) return refuse("its #! line sets variables with env");
  const bool absolute = name.starts_with('/');
  if (!absolute && name.find('/') != std::string::npos) return refuse("its #! line names a relative interpreter");
  words.erase(words.begin());
  return {.shebang = Shebang{.interpreter = name, .by_name = !absolute, .arguments = std::move(words)}, .problem = {}};
}

}  // namespace

FileKind kind_of(std::string_view first_bytes) {
  if (first_bytes.starts_with("\x7f"
                              "ELF"))
    return FileKind::kElf;
  if (first_bytes.starts_with("#!")) return FileKind::kScript;
  return FileKind::kOther;
}

ShebangParse parse_shebang(std::string_view first_bytes) {
  first_bytes = first_bytes.substr(0, kMagicBytes);
  if (!first_bytes.starts_with("#!")) return refuse("it has no #! line");
  const std::size_t end = first_bytes.find('\n');
  // The kernel cuts a longer line silently and runs what is left; a file that ends without a newline is fine.
  if (end == std::string_view::npos && first_bytes.size() == kMagicBytes) return refuse("its #! line is too long");
  std::string_view line = first_bytes.substr(2, end == std::string_view::npos ? end : end - 2);
  if (line.find('\0') != std::string_view::npos) return refuse("its #! line contains a NUL byte");
  if (line.ends_with('\r')) return refuse("its #! line ends in a carriage return");
  line = trim(line);
  const std::string_view interpreter = first_word(line);
  if (interpreter.empty()) return refuse("its #! line is empty");
  if (!interpreter.starts_with('/')) return refuse("its #! line names a relative interpreter");
  const std::string_view argument = trim(line.substr(interpreter.size()));
  if (interpreter.substr(interpreter.rfind('/') + 1) == "env") return parse_env(argument);
  Shebang shebang{.interpreter = std::string(interpreter), .by_name = false, .arguments = {}};
  if (!argument.empty()) shebang.arguments.emplace_back(argument);  // one argument, blanks included, as the kernel does
  return {.shebang = std::move(shebang), .problem = {}};
}

}  // namespace sallyport
