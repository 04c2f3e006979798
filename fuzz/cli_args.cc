// Any arguments on the command line, one per NUL-separated piece of the input: a command, or one clear error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/call_options.h"
#include "cli/command_line.h"
#include "fuzz/require.h"

namespace {

std::vector<std::string> split(std::string_view input) {
  std::vector<std::string> pieces;
  while (!input.empty()) {
    const std::size_t end = std::min(input.find('\0'), input.size());
    pieces.emplace_back(input.substr(0, end));
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  return pieces;
}

// Whether a tool is named is for the gate to refuse (C36).
void check_call(const sallyport::cli::CallOptions& call) { require(call.timeout.count() > 0); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string> args = split({reinterpret_cast<const char*>(data), size});
  auto format = sallyport::cli::Format::kText;
  const auto command = sallyport::cli::parse_command_line(args, format);
  if (!command) {
    require(!command.error().message.empty());
    require(command.error().message.find('\n') == std::string::npos);
    return 0;
  }
  if (args[0] != "run" && args[0] != "explain") return 0;
  const auto call = sallyport::cli::parse_call_options(std::span(args).subspan(1), format);
  require(call.has_value());
  if (*call) check_call(**call);
  return 0;
}
