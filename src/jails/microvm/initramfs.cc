#include "jails/microvm/initramfs.h"

#include <fmt/format.h>
#include <sys/stat.h>

namespace sallyport::microvm {
namespace {

void pad(std::string& archive) { archive.resize((archive.size() + 3) / 4 * 4, '\0'); }

void append(std::string& archive, std::uint32_t number, const InitramfsFile& file) {
  const bool is_directory = (file.mode & S_IFMT) == S_IFDIR;
  // magic, inode, mode, uid, gid, links, time, size, four device numbers, the name's size with its end, no checksum
  archive +=
      fmt::format("070701{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}", number,
                  file.mode, 0, 0, is_directory ? 2 : 1, 0, file.content.size(), 0, 0, 0, 0, file.path.size() + 1, 0);
  archive += file.path;
  archive += '\0';
  pad(archive);
  archive += file.content;
  pad(archive);
}

}  // namespace

std::string pack_initramfs(std::span<const InitramfsFile> files) {
  std::string archive;
  std::uint32_t number = 1;
  for (const InitramfsFile& file : files) append(archive, number++, file);
  append(archive, 0, {.path = "TRAILER!!!"});
  return archive;
}

}  // namespace sallyport::microvm
