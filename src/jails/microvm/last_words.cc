#include "jails/microvm/last_words.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "core/errors.h"

namespace sallyport::microvm {
namespace {

constexpr std::size_t kWordsSize = 4096;
constexpr std::size_t kLongestLine = 200;

std::string read_at(int fd, off_t at) {
  std::array<char, kWordsSize> bytes;
  const ssize_t got = ::pread(fd, bytes.data(), bytes.size(), at);
  return got > 0 ? std::string(bytes.data(), static_cast<std::size_t>(got)) : std::string();
}

std::string clean(std::string_view line) {
  std::string text;
  for (const char c : line.substr(0, kLongestLine)) {
    if (c >= ' ' && c <= '~') text += c;
  }
  return text;
}

// The guest wrote this file, so treat its name, size and bytes as text for a reader only.
std::string end_of_console(int scratch, const char* console) {
  const UniqueFd file(::openat(scratch, console, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat about{};
  if (!file || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
  return read_at(file.get(), std::max<off_t>(0, about.st_size - static_cast<off_t>(kWordsSize)));
}

// The line that contains "panic", else the last one.
std::string telling_line(std::string_view text) {
  std::string last;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line = clean(text.substr(0, end));
    if (line.find("panic") != std::string::npos) return line;
    if (line.find_first_not_of(' ') != std::string::npos) last = line;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return last;
}

}  // namespace

Result<UniqueFd> make_word_file() {
  UniqueFd file(::memfd_create("sallyport-words", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.get(), kWordsSize) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
    return fail(system_error("make", "a file in memory", errno));
  }
  return file;
}

std::string last_words(int word_file, int scratch, const char* console) {
  const std::string said = read_at(word_file, 0);
  const std::string_view text = std::string_view(said).substr(0, said.find('\0'));
  if (!text.empty()) return clean(text.substr(0, text.find('\n')));
  return scratch < 0 ? std::string() : telling_line(end_of_console(scratch, console));
}

}  // namespace sallyport::microvm
