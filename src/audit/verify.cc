#include "audit/verify.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <expected>
#include <limits>
#include <unordered_set>

#include "audit/log_reader.h"
#include "audit/tiles.h"
#include "audit/transparency.h"
#include "core/errors.h"
#include "core/json/json.h"
#include "core/text/printable.h"
#include "os/file.h"

namespace sallyport::audit {
namespace {

constexpr std::size_t kNamedRuns = 16;

class Verifier {
 public:
  Verifier(const LogDirectory& directory, VerifyOptions options)
      : directory_(directory),
        options_(std::move(options)),
        tiles_([this](const std::string& path, std::string_view bytes) { return compare_tile(path, bytes); }) {}

  Result<Verification> run() {
    end_ = TRY(find_log_end(directory_));
    TRY(read_own_checkpoint());
    const std::vector<std::uint64_t>& segments = end_.segments;
    out_.files = segments.size();
    for (const std::uint64_t segment : segments) {
      if (out_.problem) break;
      TRY(verify_file(segment, segment == segments.back()));
    }
    if (!out_.problem) check_end();
    if (!out_.problem) check_unreached();
    out_.last_hash = at_.hash;
    out_.open_intents = open_.size();
    for (const std::string& run : open_) {
      if (out_.open_runs.size() < kNamedRuns) out_.open_runs.push_back(run);
    }
    if (std::string problem = checkpoint_problem(directory_); !problem.empty()) {
      out_.notes.push_back("the last checkpoint could not be made: " + printable(problem));
    }
    return std::move(out_);
  }

 private:
  void found(std::string file, std::uint64_t line, std::uint64_t seq, std::string why) {
    if (!out_.problem) out_.problem = Problem{.file = std::move(file), .line = line, .seq = seq, .why = std::move(why)};
  }

  // Reads from the log's own checkpoint how far the tiles go.
  Status read_own_checkpoint() {
    const Result<UniqueFd> fd = directory_.open_file("checkpoint", O_RDONLY);
    if (!fd) return {};
    const std::string note = TRY(read_all(fd->get(), mebibytes(1), "checkpoint"));
    std::optional<NoteKey> key = options_.key;
    if (!key) {
      const Result<UniqueFd> file = directory_.open_file("checkpoint.pub", O_RDONLY);
      const Result<std::string> text =
          file ? read_all(file->get(), mebibytes(1), "checkpoint.pub") : fail(file.error());
      if (!text) {
        found("checkpoint", 0, 0, "its public key checkpoint.pub is gone");
        return {};
      }
      key = TRY(parse_note_key(*text));
    }
    const Result<Checkpoint> own = open_checkpoint(note, *key);
    if (!own) {
      found("checkpoint", 0, 0, own.error().message);
      return {};
    }
    own_size_ = own->size;
    options_.kept.push_back(*own);
    return {};
  }

  Status verify_file(std::uint64_t segment, bool is_last) {
    const std::string name = segment_name(segment);
    if (segment != at_.seq + 1) {
      found(name, 0, at_.seq + 1,
            fmt::format("records {} to {} are missing before this file", at_.seq + 1, segment - 1));
      return {};
    }
    at_.segment = segment;
    at_.offset = 0;
    const UniqueFd fd = TRY(directory_.open_file(name, O_RDONLY));
    LineReader lines(fd.get(), 0, is_last ? end_.last_size : std::numeric_limits<std::uint64_t>::max());
    for (std::uint64_t number = 1; !out_.problem; ++number) {
      const LogLine line = TRY(lines.next());
      if (line.kind == LogLine::Kind::kEnd) break;
      if (line.kind == LogLine::Kind::kLine) {
        TRY(verify_line(name, number, line));
        continue;
      }
      if (line.kind == LogLine::Kind::kPartial && is_last && may_be_torn(line.offset)) {
        out_.torn_bytes = end_.last_size - line.offset;
        break;
      }
      found(name, number, at_.seq + 1, line.kind == LogLine::Kind::kTooLong ? "it is no record" : "it is cut off");
    }
    out_.bytes += at_.offset;
    return {};
  }

  // Only after what the head confirms: there a writer may have died.
  [[nodiscard]] bool may_be_torn(std::uint64_t offset) const {
    const auto vouches = [&](const std::optional<HeadSlot>& slot) {
      return slot && slot->at.segment == at_.segment && slot->at.offset <= offset;
    };
    return vouches(end_.written) || (end_.written && end_.written->boot != options_.boot && vouches(end_.durable));
  }

  Status verify_line(const std::string& file, std::uint64_t number, const LogLine& line) {
    const std::expected<RecordLine, std::string_view> record = open_record(line.text);
    const std::uint64_t expected = at_.seq + 1;
    if (!record) {
      found(file, number, expected, std::string(record.error()));
      return {};
    }
    if (record->seq != expected) {
      found(file, number, expected, fmt::format("this is record {}, and record {} is expected", record->seq, expected));
      return {};
    }
    if (record->prev != at_.hash) {
      found(file, number, expected, "it does not continue the record before it");
      return {};
    }
    at_.seq = record->seq;
    at_.hash = record->hash;
    at_.offset = line.offset + line.text.size() + 1;
    ++out_.records;
    count_kind(*record);
    if (record->time < last_time_) ++out_.clock_went_back;
    last_time_ = record->time;
    check_slot(end_.written, "written", file, number);
    check_slot(end_.durable, "durable", file, number);
    return add_to_tree(*record);
  }

  void count_kind(const RecordLine& record) {
    if (record.kind == "intent") {
      ++out_.intents;
      open_.insert(std::string(record.run));
      return;
    }
    open_.erase(std::string(record.run));
    if (record.kind == "result") ++out_.results;
    if (record.kind == "refusal" || record.kind == "failure") ++out_.refusals;
    if (record.kind == "job") ++out_.jobs;
    if (record.kind == "recovery") ++out_.recoveries;
  }

  // The head was written when this record was the last one. If its hash differs now, the log was rewritten since.
  void check_slot(const std::optional<HeadSlot>& slot, std::string_view name, const std::string& file,
                  std::uint64_t number) {
    if (!slot || slot->at.seq != at_.seq || slot->at.hash == at_.hash) return;
    found(file, number, at_.seq, fmt::format("the head's {} record {} had another hash", name, at_.seq));
  }

  Status add_to_tree(const RecordLine& record) {
    if (options_.kept.empty()) return {};
    if (own_size_ && at_.seq <= *own_size_) {
      TRY(tiles_.add(record.hash));
      if (at_.seq == *own_size_) TRY(tiles_.finish());
    }
    tree_.add(leaf_hash(bytes_of_hex(record.hash)));
    for (const Checkpoint& kept : options_.kept) {
      if (kept.size != at_.seq) continue;
      const bool same = kept.root == tree_.root();
      if (!same)
        found("checkpoint", 0, kept.size, fmt::format("the first {} records are not those it signed", kept.size));
      if (same) out_.checkpoints.push_back(fmt::format("{} at {} records", printable(kept.origin), kept.size));
    }
    return {};
  }

  Status compare_tile(const std::string& path, std::string_view bytes) {
    const Result<std::string> stored = read_tile(directory_, path);
    if (!stored) found(path, 0, at_.seq, "the tile cannot be read");
    if (stored && *stored != bytes) found(path, 0, at_.seq, "the tile is not that of the records");
    return {};
  }

  // Cutting off the end leaves the chain intact: only the head reveals it.
  void check_end() {
    const std::string file = segment_name(at_.segment);
    if (out_.files == 0 && !end_.written && !end_.durable) return;  // there was never a record
    if (!end_.written || !end_.durable) {
      found("head", 0, at_.seq, "it is missing or damaged, so records may have been cut off");
      return;
    }
    const bool this_boot = end_.written->boot == options_.boot;
    const std::uint64_t sure = this_boot ? std::max(end_.written->at.seq, end_.durable->at.seq) : end_.durable->at.seq;
    if (at_.seq < sure) {
      found(file, 0, at_.seq + 1, fmt::format("records {} to {} were cut off the end", at_.seq + 1, sure));
    }
    if (!this_boot && end_.written->at.seq > at_.seq && at_.seq >= sure) {
      out_.notes.push_back(fmt::format("records {} to {} were written but not synced before a restart", at_.seq + 1,
                                       end_.written->at.seq));
    }
  }

  void check_unreached() {
    for (const Checkpoint& kept : options_.kept) {
      if (kept.size > at_.seq) {
        found("checkpoint", 0, at_.seq + 1,
              fmt::format("it signed {} records, and the log has {}", kept.size, at_.seq));
      }
    }
  }

  const LogDirectory& directory_;
  VerifyOptions options_;
  TileBuilder tiles_;
  CompactTree tree_;
  std::optional<std::uint64_t> own_size_;
  LogEnd end_;
  Position at_;
  std::string last_time_;
  std::unordered_set<std::string> open_;
  Verification out_;
};

}  // namespace

Result<Verification> verify_log(const LogDirectory& directory, VerifyOptions options) {
  return Verifier(directory, std::move(options)).run();
}

}  // namespace sallyport::audit
