// Tiles of a C2SP tlog, written from the left: the hashes of level 0 are leaves, each full tile of 256 gives one hash to the level
// above. A partial tile keeps what a level has beyond its full tiles; the next writer continues from it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/log_directory.h"
#include "core/audit/merkle.h"
#include "core/audit/signed_note.h"
#include "sallyport/result.h"

namespace sallyport::audit {

class TileBuilder {
 public:
  using Sink = std::function<Status(const std::string& path, std::string_view bytes)>;

  // Starts without leaves; passes each full tile to the sink.
  explicit TileBuilder(Sink sink) : sink_(std::move(sink)) {}
  // Continues a tree of `size` leaves from the tiles of this log, and writes new tiles there.
  [[nodiscard]] static Result<TileBuilder> resume(const LogDirectory& directory, std::uint64_t size);
  [[nodiscard]] Status add(std::string_view record_hash);  // 64 hex digits
  // Passes the partial tiles to the sink, too.
  [[nodiscard]] Status finish();
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] TreeHash root() const;

 private:
  static constexpr unsigned kLevels = 8;
  [[nodiscard]] Status push(unsigned level, const TreeHash& hash);

  Sink sink_;
  std::uint64_t size_ = 0;
  std::array<std::vector<TreeHash>, kLevels> partial_{};  // of each level, what its last tile holds so far
  std::string entries_;                                   // of the last bundle
};

// 32 bytes of 64 hex digits; the entry that is logged for a record.
[[nodiscard]] std::string bytes_of_hex(std::string_view hex);
// The bytes of a tile or bundle file.
[[nodiscard]] Result<std::string> read_tile(const LogDirectory& directory, const std::string& path);

}  // namespace sallyport::audit
