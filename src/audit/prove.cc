#include "audit/prove.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "audit/log_reader.h"
#include "audit/tiles.h"
#include "core/bytes/base64.h"
#include "core/errors.h"
#include "core/text/number.h"
#include "os/file.h"

namespace sallyport::audit {
namespace {

// 20 digits and more are the start of a run's id.
std::optional<std::uint64_t> record_number(std::string_view wanted) {
  constexpr std::size_t kMostDigits = 19;
  return wanted.size() > kMostDigits ? std::nullopt : whole_number<std::uint64_t>(wanted);
}

// The start of a run's id is enough if it is long enough to be unique.
bool names_run(std::string_view wanted, std::string_view run) {
  constexpr std::size_t kEnough = 6;
  return wanted.size() >= kEnough && run.starts_with(wanted);
}

bool is_wanted(const std::string& wanted, const std::optional<std::uint64_t>& number, const RecordLine& line) {
  if (wanted == "last") return line.kind == "result";
  if (wanted == "last-job") return line.kind == "job";
  return number ? line.seq == *number : names_run(wanted, line.run);
}

std::string base64_of(const TreeHash& hash) { return base64(std::string(hash.begin(), hash.end())); }

Error no_such(const std::string& wanted) {
  return invalid_request("record", fmt::format("there is no record or run '{}'", wanted),
                         "a listing of the log has them; a number, a run's id, or last");
}

}  // namespace

Result<NoteKey> own_public_key(const LogDirectory& directory) {
  const UniqueFd fd = TRY(directory.open_file("checkpoint.pub", O_RDONLY));
  return parse_note_key(TRY(read_all(fd.get(), mebibytes(1), "checkpoint.pub")));
}

Result<std::string> find_record(const LogDirectory& directory, const std::string& wanted) {
  const std::optional<std::uint64_t> number = record_number(wanted);
  LogReader reader = TRY(LogReader::open(directory));
  std::string found;
  while (const std::optional<LogRecord> record = TRY(reader.next())) {
    if (is_wanted(wanted, number, record->line)) found = record->text;
  }
  if (found.empty()) return fail(no_such(wanted));
  return found;
}

Result<RecordProof> prove_record(const LogDirectory& directory, const std::string& wanted,
                                 const std::optional<Checkpoint>& old) {
  RecordProof proof{.record = TRY(find_record(directory, wanted))};
  const std::expected<RecordLine, std::string_view> line = open_record(proof.record);
  if (!line) return fail(invalid_request("record", line.error(), "a check of the whole log says more"));
  proof.seq = line->seq;
  proof.hash = line->hash;
  const NoteKey key = TRY(own_public_key(directory));
  const UniqueFd fd = TRY(directory.open_file("checkpoint", O_RDONLY));
  proof.note = TRY(read_all(fd.get(), mebibytes(1), "checkpoint"));
  proof.checkpoint = TRY(open_checkpoint(proof.note, key));
  const std::uint64_t size = proof.checkpoint.size;
  if (proof.seq > size) {
    return fail(invalid_request("record",
                                fmt::format("the checkpoint covers {} records, not yet record {}", size, proof.seq),
                                "make a new checkpoint of the log"));
  }
  if (old && old->size > size) {
    return fail(
        invalid_request("checkpoint", "it covers more records than the log's own", "the log was cut: verify it"));
  }
  ProofCollector inclusion = ProofCollector::inclusion(proof.seq - 1, size);
  ProofCollector consistency = ProofCollector::consistency(old ? old->size : 0, size);
  CompactTree tree;
  LogReader reader = TRY(LogReader::open(directory));
  while (const std::optional<LogRecord> record = TRY(reader.next())) {
    if (record->line.seq > size) break;
    const TreeHash leaf = leaf_hash(bytes_of_hex(record->line.hash));
    inclusion.add(leaf);
    consistency.add(leaf);
    tree.add(leaf);
  }
  if (tree.root() != proof.checkpoint.root) {
    return fail(invalid_request("audit log", "its records are not those its checkpoint signed",
                                "a check of the whole log says more"));
  }
  proof.inclusion = inclusion.proof();
  proof.consistency = consistency.proof();
  const bool continues =
      !old || verify_consistency(old->size, old->root, size, proof.checkpoint.root, proof.consistency);
  if (!continues) {
    return fail(invalid_request("checkpoint",
                                fmt::format("the log's first {} records are not those it signed", old->size),
                                "the past was rewritten"));
  }
  return proof;
}

std::string tlog_proof_text(const RecordProof& proof) {
  std::string text = fmt::format("c2sp.org/tlog-proof@v1\nindex {}\n", proof.seq - 1);
  for (const TreeHash& hash : proof.inclusion) text += base64_of(hash) + "\n";
  return text + "\n" + proof.note;
}

}  // namespace sallyport::audit
