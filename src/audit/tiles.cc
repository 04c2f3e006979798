#include "audit/tiles.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "core/errors.h"
#include "os/directory.h"
#include "os/file.h"
#include "os/openat2.h"

namespace sallyport::audit {
namespace {

constexpr std::size_t kEntryBytes = 2 + kSha256Bytes;  // with its length, two bytes, big-endian

std::string_view bytes_of_hash(const TreeHash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};  // NOLINT(*-reinterpret-cast): bytes are bytes
}

Status make_directories(const LogDirectory& directory, const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    if (::mkdirat(directory.fd(), path.substr(0, slash).c_str(), 0700) != 0 && errno != EEXIST) {
      return fail(directory.failed(errno, {}));
    }
  }
  return {};
}

// How many nodes of this tile level a tree of `size` leaves has.
std::uint64_t nodes_at(std::uint64_t size, unsigned level) { return level >= 8 ? 0 : size >> (8 * level); }

// Removes what a full tile replaces: "000.p" and the partial tiles in it.
void remove_partials(const LogDirectory& directory, const std::string& full) {
  const std::string folder = full + ".p";
  const int fd = openat2_beneath(directory.fd(), folder.c_str(), O_RDONLY | O_DIRECTORY);
  if (fd < 0) return;
  const UniqueFd owned(fd);
  const Result<std::vector<std::string>> names = list_directory(fd, folder);
  if (!names) return;
  for (const std::string& name : *names) static_cast<void>(::unlinkat(fd, name.c_str(), 0));
  static_cast<void>(::unlinkat(directory.fd(), folder.c_str(), AT_REMOVEDIR));
}

Status write_tile(const LogDirectory& directory, const std::string& path, std::string_view bytes) {
  TRY(make_directories(directory, path));
  TRY(write_file_atomically(directory.path() / path, bytes));
  if (path.find(".p/") == std::string::npos) remove_partials(directory, path);
  return {};
}

}  // namespace

std::string bytes_of_hex(std::string_view hex) {
  const auto value = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>((value(hex[i]) << 4U) | value(hex[i + 1]));
  }
  return bytes;
}

Result<std::string> read_tile(const LogDirectory& directory, const std::string& path) {
  const UniqueFd fd = TRY(open_beneath(directory.fd(), path, O_RDONLY | O_NONBLOCK));
  return read_all(fd.get(), mebibytes(1), path);
}

Result<TileBuilder> TileBuilder::resume(const LogDirectory& directory, std::uint64_t size) {
  TileBuilder writer(
      [&directory](const std::string& path, std::string_view bytes) { return write_tile(directory, path, bytes); });
  writer.size_ = size;
  for (unsigned level = 0; level < kLevels; ++level) {
    const std::uint64_t nodes = nodes_at(size, level);
    const auto width = static_cast<unsigned>(nodes % kTileWidth);
    if (width == 0) continue;
    const std::string path = tile_path(std::to_string(level), nodes / kTileWidth, width);
    const std::string bytes = TRY(read_tile(directory, path));
    if (bytes.size() != width * kSha256Bytes) return fail(directory.failed(EILSEQ, fmt::format("{} is damaged", path)));
    for (std::size_t at = 0; at < bytes.size(); at += kSha256Bytes) {
      TreeHash hash{};
      std::ranges::copy(bytes.substr(at, kSha256Bytes), hash.begin());
      writer.partial_[level].push_back(hash);
    }
  }
  const auto width = static_cast<unsigned>(size % kTileWidth);
  if (width != 0) {
    writer.entries_ = TRY(read_tile(directory, tile_path("entries", size / kTileWidth, width)));
    if (writer.entries_.size() != width * kEntryBytes) {
      return fail(directory.failed(EILSEQ, "a bundle of entries is damaged"));
    }
  }
  return writer;
}

Status TileBuilder::push(unsigned level, const TreeHash& hash) {
  std::vector<TreeHash>& nodes = partial_.at(level);
  nodes.push_back(hash);
  if (nodes.size() < kTileWidth) return {};
  std::string bytes;
  CompactTree tree;
  for (const TreeHash& node : nodes) {
    bytes += bytes_of_hash(node);
    tree.add(node);
  }
  const std::uint64_t index = nodes_at(size_, level) / kTileWidth;
  TRY(sink_(tile_path(std::to_string(level), index, kTileWidth), bytes));
  nodes.clear();
  return push(level + 1, tree.root());
}

Status TileBuilder::add(std::string_view record_hash) {
  const std::string entry = bytes_of_hex(record_hash);
  entries_ += '\0';
  entries_ += static_cast<char>(kSha256Bytes);
  entries_ += entry;
  if (entries_.size() == kTileWidth * kEntryBytes) {
    TRY(sink_(tile_path("entries", size_ / kTileWidth, kTileWidth), entries_));
    entries_.clear();
  }
  TRY(push(0, leaf_hash(entry)));
  ++size_;
  return {};
}

Status TileBuilder::finish() {
  for (unsigned level = 0; level < kLevels; ++level) {
    if (partial_.at(level).empty()) continue;
    std::string bytes;
    for (const TreeHash& node : partial_.at(level)) bytes += bytes_of_hash(node);
    const std::uint64_t index = nodes_at(size_, level) / kTileWidth;
    const auto width = static_cast<unsigned>(partial_.at(level).size());
    TRY(sink_(tile_path(std::to_string(level), index, width), bytes));
  }
  if (!entries_.empty()) {
    const auto width = static_cast<unsigned>(entries_.size() / kEntryBytes);
    TRY(sink_(tile_path("entries", size_ / kTileWidth, width), entries_));
  }
  return {};
}

TreeHash TileBuilder::root() const {
  CompactTree tree;
  for (unsigned level = kLevels; level > 0; --level) {
    for (const TreeHash& node : partial_.at(level - 1)) tree.add_subtree(node, 8 * (level - 1));
  }
  return tree.root();
}

}  // namespace sallyport::audit
