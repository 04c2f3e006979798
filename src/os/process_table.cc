#include "os/process_table.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>

#include "core/errors.h"
#include "os/directory.h"
#include "os/file.h"

namespace sallyport {
namespace {

constexpr ByteCount kStatCap{4096};

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc{} && end == text.data() + text.size();
}

// The next space-separated field, taken off the front.
std::string_view next_field(std::string_view& rest) {
  const std::size_t begin = rest.find_first_not_of(' ');
  if (begin == std::string_view::npos) return rest = {};
  const std::size_t end = rest.find_first_of(" \n", begin);
  const std::string_view field = rest.substr(begin, end - begin);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end);
  return field;
}

}  // namespace

std::optional<ProcessEntry> parse_proc_stat(std::string_view text) {
  // The process chooses comm, which may hold ") R 1": only the last parenthesis ends it (proc(5)).
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open || open == 0) return {};
  ProcessEntry entry;
  if (!parse_number(text.substr(0, open - 1), entry.pid)) return {};
  entry.comm = text.substr(open + 1, close - open - 1);
  std::string_view rest = text.substr(close + 1);
  const std::string_view state = next_field(rest);
  if (state.size() != 1) return {};
  entry.state = state[0];
  if (!parse_number(next_field(rest), entry.parent) || !parse_number(next_field(rest), entry.group) ||
      !parse_number(next_field(rest), entry.session)) {
    return {};
  }
  for (int field = 7; field < 22; ++field) next_field(rest);  // starttime is field 22
  if (!parse_number(next_field(rest), entry.start_ticks)) return {};
  return entry;
}

Result<std::vector<ProcessEntry>> list_processes() {
  UniqueFd proc = TRY(open_path("/proc", O_RDONLY | O_DIRECTORY));
  std::vector<ProcessEntry> entries;
  const auto names = TRY(list_directory(proc.get(), "/proc"));
  for (const std::string& name : names) {
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const Result<UniqueFd> stat = open_path_at(proc.get(), name + "/stat", O_RDONLY);
    if (!stat) continue;  // it has ended meanwhile
    const Result<std::string> text = read_all(stat->get(), kStatCap, "/proc/<pid>/stat");
    if (!text) continue;
    if (std::optional<ProcessEntry> entry = parse_proc_stat(*text)) entries.push_back(*std::move(entry));
  }
  return entries;
}

}  // namespace sallyport
