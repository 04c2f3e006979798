#include "jails/microvm/modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace sallyport::microvm {
namespace {

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// "kernel/fs/9p/9p.ko.xz" -> "9p". The kernel and depmod treat '-' and '_' as the same.
std::string module_name(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  std::string name(path.substr(0, path.find(".ko")));
  std::ranges::replace(name, '-', '_');
  return name;
}

std::optional<std::string_view> line_of(std::string_view name, std::string_view dependencies) {
  while (!dependencies.empty()) {
    const std::string_view line = next_line(dependencies);
    if (module_name(line.substr(0, line.find(':'))) == name) return line;
  }
  return std::nullopt;
}

bool is_built_in(std::string_view name, std::string_view built_in) {
  while (!built_in.empty()) {
    if (module_name(next_line(built_in)) == name) return true;
  }
  return false;
}

void add(std::string_view path, std::vector<std::string>& order) {
  if (std::ranges::find(order, path) == order.end()) order.emplace_back(path);
}

}  // namespace

Modules modules_to_load(std::span<const std::string_view> names, const ModuleLists& lists) {
  std::vector<std::string> order;
  for (const std::string_view name : names) {
    const std::optional<std::string_view> line = line_of(name, lists.dependencies);
    if (!line && is_built_in(name, lists.built_in)) continue;
    if (!line) return std::unexpected(fmt::format("the kernel has no module {}", name));
    // modprobe loads the names on a line from last to first: the last needs nothing.
    std::vector<std::string_view> needed;
    const std::size_t colon = line->find(':');
    for (std::string_view rest = line->substr(colon + 1); !rest.empty();) {
      rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
      const std::size_t end = std::min(rest.find(' '), rest.size());
      if (end > 0) needed.push_back(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    for (auto path = needed.rbegin(); path != needed.rend(); ++path) add(*path, order);
    add(line->substr(0, colon), order);
  }
  return order;
}

}  // namespace sallyport::microvm
