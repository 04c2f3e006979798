// change_tree DEED... : changes the tree in the working directory, one deed after the other; the number of the first that
// failed, counted from 1, is the exit code.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace {

bool put(const std::string& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  return fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && close(fd) == 0;
}

// Bytes for ever, or until the limit.
enum class Then { kNothing, kDelete, kShutDirectory };
bool fill(const std::string& path, Then then) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0 || (then == Then::kDelete && unlink(path.c_str()) != 0)) return false;
  if (then == Then::kShutDirectory && chmod(".", 0) != 0) return false;
  static char block[1 << 16];
  memset(block, 'x', sizeof block);
  for (long left = 16384; left > 0; --left) {  // a gibibyte: no test's disk is to be filled
    if (write(fd, block, sizeof block) <= 0) return false;
  }
  return true;
}

bool deep(int levels) {
  for (int i = 0; i < levels; ++i) {
    if (mkdir("d", 0755) != 0 || chdir("d") != 0) return false;
  }
  return put("bottom", "deep\n");
}

bool copies(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char bytes[4096];
  const ssize_t size = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
  return size >= 0 && write(1, bytes, static_cast<size_t>(size)) == size;
}

// "put:PATH=TEXT", "mode:PATH=0755" …
bool act(const std::string& deed) {
  const std::string what = deed.substr(0, deed.find(':'));
  const std::string rest = deed.substr(what.size() + 1);
  const std::string path = rest.substr(0, rest.find('='));
  const std::string value = rest.size() > path.size() ? rest.substr(path.size() + 1) : "";
  const char* const name = path.c_str();
  if (what == "put") return put(path, value);
  if (what == "delete") return unlink(name) == 0;
  if (what == "rmdir") return rmdir(name) == 0;
  if (what == "mkdir") return mkdir(name, 0755) == 0;
  if (what == "link") return symlink(value.c_str(), name) == 0;
  if (what == "mode") return chmod(name, static_cast<mode_t>(strtoul(value.c_str(), nullptr, 8))) == 0;
  if (what == "move") return rename(name, value.c_str()) == 0;
  if (what == "fifo") return mkfifo(name, 0644) == 0;
  if (what == "fill") return fill(path, Then::kNothing);
  if (what == "fill_deleted") return fill(path, Then::kDelete);
  if (what == "fill_hidden") return mkdir(name, 0755) == 0 && chdir(name) == 0 && fill("f", Then::kShutDirectory);
  if (what == "deep") return deep(atoi(value.c_str()));
  if (what == "show") return copies(path);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (!act(argv[i])) return i;
  }
  return 0;
}
