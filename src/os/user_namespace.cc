#include "os/user_namespace.h"

#include <charconv>
#include <cstdint>
#include <sstream>
#include <string>

#include "os/file.h"

namespace sallyport {

std::optional<uid_t> unmapped_owner() {
  uid_t overflow = 65534;
  if (const Result<std::string> text = read_whole_file("/proc/sys/kernel/overflowuid", ByteCount{64})) {
    std::from_chars(text->data(), text->data() + text->size(), overflow);
  }
  const Result<std::string> map = read_whole_file("/proc/self/uid_map", ByteCount{65536});
  if (!map) return std::nullopt;
  std::istringstream lines(*map);
  for (std::uint64_t inside = 0, outside = 0, length = 0; lines >> inside >> outside >> length;) {
    if (overflow >= inside && overflow - inside < length) return std::nullopt;
  }
  return overflow;
}

}  // namespace sallyport
