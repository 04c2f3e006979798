// Where a log ends: a file of two slots, each rewritten in place. With it a writer finds the end without reading the
// log, and a reader detects records cut off the end, which a chain alone cannot show.
//   written  the last record written, under `lock`; valid for the boot that it names: a power cut may lose that record
//   durable  the last record known to be on the disk, under `sync.lock`
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/audit/record_line.h"
#include "sallyport/result.h"

namespace sallyport::audit {

// The position right after record `seq`, with that record's hash.
struct Position {
  std::uint64_t segment = 1;  // the file, by its first record
  std::uint64_t offset = 0;
  std::uint64_t seq = 0;
  std::string hash{kNoRecordBefore};
};

struct HeadSlot {
  Position at{};
  std::string boot{};
};

enum class Slot { kWritten, kDurable };

// nullopt when there is no whole slot.
[[nodiscard]] std::optional<HeadSlot> read_slot(int fd, Slot slot);
[[nodiscard]] Status write_slot(int fd, Slot slot, const HeadSlot& head);

// The kernel's id for this boot; "unknown" without /proc.
[[nodiscard]] std::string boot_id();

}  // namespace sallyport::audit
