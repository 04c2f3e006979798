// The transparency log beside the records: C2SP tlog-tiles as static files, and checkpoints signed with Ed25519. Entry N-1 is the
// hash of record N, 32 bytes. Nothing of it exists until `audit keygen` writes checkpoint.json.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "audit/log_directory.h"
#include "core/audit/signed_note.h"
#include "sallyport/result.h"

namespace sallyport::audit {

// checkpoint.json
struct CheckpointSettings {
  std::filesystem::path key{};                   // the private key's file
  std::vector<std::filesystem::path> copy_to{};  // directories that get each checkpoint as ORIGIN-SIZE
  std::uint64_t every_records = 256;
  std::chrono::seconds every{60};
};
[[nodiscard]] Result<std::optional<CheckpointSettings>> read_checkpoint_settings(const LogDirectory& directory);
[[nodiscard]] Status write_checkpoint_settings(const LogDirectory& directory, const CheckpointSettings& settings);

[[nodiscard]] Result<NoteKey> read_note_key(const std::filesystem::path& file);

// Makes a checkpoint when enough records or enough time have passed since the last one. It does not wait for another
// process that makes one: that checkpoint, or the next, covers this record. A failure does not affect the call, whose
// record is safe. `checkpoint.error` says why it failed, and `audit verify` reports it; it tries again after a minute.
void checkpoint_when_due(const LogDirectory& directory, std::uint64_t seq);
// Why the last due checkpoint failed; empty: it did not.
[[nodiscard]] std::string checkpoint_problem(const LogDirectory& directory);
// Makes one now, over every record, and returns it.
[[nodiscard]] Result<Checkpoint> make_checkpoint(const LogDirectory& directory);

}  // namespace sallyport::audit
