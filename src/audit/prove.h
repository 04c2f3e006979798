// Small proofs about a log: that a record is in it, and that it still begins with what a checkpoint signed. Made in one
// pass over the records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audit/log_directory.h"
#include "core/audit/signed_note.h"
#include "sallyport/result.h"

namespace sallyport::audit {

struct RecordProof {
  std::uint64_t seq = 0;
  std::string hash{};       // the record's; its 32 bytes are the entry
  std::string record{};     // the whole line
  Checkpoint checkpoint{};  // the log's own
  std::string note{};       // its text with signatures
  std::vector<TreeHash> inclusion{};
  std::vector<TreeHash> consistency{};  // from the old checkpoint, when one was given
};

// A record by its number, or the last one of a run by the run's id. The log's own checkpoint must cover it.
[[nodiscard]] Result<RecordProof> prove_record(const LogDirectory& directory, const std::string& wanted,
                                               const std::optional<Checkpoint>& old);

// C2SP tlog-proof.
[[nodiscard]] std::string tlog_proof_text(const RecordProof& proof);

// The record of a number or the last of a run, whole; "last" is the last result, "last-job" the last job's end.
[[nodiscard]] Result<std::string> find_record(const LogDirectory& directory, const std::string& wanted);

[[nodiscard]] Result<NoteKey> own_public_key(const LogDirectory& directory);

}  // namespace sallyport::audit
