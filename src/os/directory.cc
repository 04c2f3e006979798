#include "os/directory.h"

#include <dirent.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "core/errors.h"

namespace sallyport {

Result<std::vector<std::string>> list_directory(int fd, std::string_view subject, std::size_t enough) {
  std::vector<std::string> names;
  // getdents64 rather than readdir: it needs no second descriptor, and the caller can use its own repeatedly.
  if (::lseek(fd, 0, SEEK_SET) < 0) return fail(system_error("list", subject, errno));
  alignas(dirent64) std::array<char, 32768> buffer;
  while (names.size() < enough) {
    const ssize_t got = ::getdents64(fd, buffer.data(), buffer.size());
    if (got < 0) return fail(system_error("list", subject, errno));
    if (got == 0) break;
    for (ssize_t at = 0; at < got;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
      const std::string_view name(static_cast<const char*>(entry->d_name));
      if (name != "." && name != "..") names.emplace_back(name);
      at += entry->d_reclen;
    }
  }
  return names;
}

}  // namespace sallyport
