// Checks that a log is what was written: every record whole, in its place, and sealed by the next; none missing at
// either end; the transparency files and every kept checkpoint consistent with it. One pass, bounded memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audit/head.h"
#include "audit/log_directory.h"
#include "core/audit/signed_note.h"
#include "sallyport/result.h"

namespace sallyport::audit {

struct Problem {
  std::string file{};
  std::uint64_t line = 0;  // 0: the file as a whole
  std::uint64_t seq = 0;   // of the first bad record
  std::string why{};
};

struct Verification {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t files = 0;
  std::uint64_t intents = 0;
  std::uint64_t results = 0;
  std::uint64_t refusals = 0;  // and failures
  std::uint64_t jobs = 0;      // ends of jobs
  std::uint64_t recoveries = 0;
  std::vector<std::string> open_runs{};  // intents without an end: crashes, or runs still under way; the first 16
  std::uint64_t open_intents = 0;
  std::uint64_t clock_went_back = 0;  // records older than the one before them
  std::uint64_t torn_bytes = 0;       // after the last record; the next writer sets them aside
  std::string last_hash{};
  std::vector<std::string> checkpoints{};  // what was checked, in words
  std::vector<std::string> notes{};
  std::optional<Problem> problem{};  // none: the log is whole
};

struct VerifyOptions {
  // Checkpoints kept elsewhere, whose signatures are already checked.
  std::vector<Checkpoint> kept{};
  // The key of the log's own checkpoint; without it we do not trust the checkpoint, but still compare its tree.
  std::optional<NoteKey> key{};
  std::string boot = boot_id();  // differs from the kernel's only in tests of power cuts
};

[[nodiscard]] Result<Verification> verify_log(const LogDirectory& directory, VerifyOptions options = {});

}  // namespace sallyport::audit
