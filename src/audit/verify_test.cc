// An attacker with an editor: every change of a log is found, and named by the first record it concerns.
#include "audit/verify.h"

#include <random>

#include "audit/test_log.h"
#include "audit/transparency.h"
#include "core/bytes/ed25519.h"

namespace sallyport::audit {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRecords = 2000;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', at)) {
    lines.push_back(text.substr(at, end + 1 - at));
    at = end + 1;
  }
  return lines;
}

std::string joined_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

class TamperedLog : public LogTest {
 protected:
  TamperedLog() {
    fill(kRecords);
    whole_ = read(first_file());
    lines_ = lines_of(whole_);
  }
  // Replaces the log with these bytes, judges it, and restores it.
  Verification judged(const std::string& bytes) {
    write(first_file(), bytes);
    Verification found = verify();
    write(first_file(), whole_);
    return found;
  }
  std::string whole_;
  std::vector<std::string> lines_;
  std::mt19937 random_{19};
};

TEST_F(TamperedLog, C33_is_whole_before) {
  ASSERT_EQ(lines_.size(), kRecords);
  EXPECT_FALSE(verify().problem) << why(verify());
}

// Every record once, at a random byte. Each check reads the whole log, so the test changes a hundred at a time, and the
// first must be named.
TEST_F(TamperedLog, C33_one_changed_byte_in_any_record_is_found_and_named) {
  for (std::size_t first = 0; first < lines_.size(); first += 25) {
    std::vector<std::string> changed = lines_;
    for (std::size_t i = first; i < std::min(lines_.size(), first + 25); ++i) {
      const std::size_t at = random_() % changed[i].size();
      changed[i][at] = static_cast<char>(changed[i][at] ^ (1U << (random_() % 7)));
    }
    const Verification found = judged(joined_lines(changed));
    ASSERT_TRUE(found.problem) << first;
    EXPECT_EQ(found.problem->seq, first + 1);
    EXPECT_EQ(found.problem->line, first + 1);
  }
}

TEST_F(TamperedLog, C33_deleted_swapped_doubled_and_inserted_records_are_found) {
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}, std::size_t{777}, kRecords - 2, kRecords - 1}) {
    std::vector<std::string> deleted = lines_;
    deleted.erase(deleted.begin() + static_cast<std::ptrdiff_t>(at));
    EXPECT_TRUE(judged(joined_lines(deleted)).problem) << "deleted " << at;
    std::vector<std::string> doubled = lines_;
    doubled.insert(doubled.begin() + static_cast<std::ptrdiff_t>(at), lines_[at]);
    EXPECT_TRUE(judged(joined_lines(doubled)).problem) << "doubled " << at;
    if (at + 1 < kRecords) {
      std::vector<std::string> swapped = lines_;
      std::swap(swapped[at], swapped[at + 1]);
      EXPECT_TRUE(judged(joined_lines(swapped)).problem) << "swapped " << at;
    }
    std::vector<std::string> inserted = lines_;
    inserted.insert(inserted.begin() + static_cast<std::ptrdiff_t>(at),
                    seal_record(at + 1, kNoRecordBefore, test_members(9)).line);
    EXPECT_TRUE(judged(joined_lines(inserted)).problem) << "inserted " << at;
  }
}

TEST_F(TamperedLog, C33_a_cut_anywhere_is_found) {
  EXPECT_TRUE(judged("").problem);
  for (int i = 0; i < 40; ++i) {
    const std::size_t end = random_() % whole_.size();
    EXPECT_TRUE(judged(whole_.substr(0, end)).problem) << end;
  }
  std::size_t end = whole_.size();
  for (std::size_t i = lines_.size(); i > lines_.size() - 5; --i) {
    end -= lines_[i - 1].size();
    const Verification found = judged(whole_.substr(0, end));
    ASSERT_TRUE(found.problem);
    EXPECT_EQ(found.problem->seq, i);
  }
  EXPECT_TRUE(judged(whole_.substr(lines_[0].size())).problem) << "the beginning";
}

TEST_F(LogTest, C33_a_missing_file_is_found) {
  fill(60, ByteCount{2000});
  const std::vector<std::uint64_t> segments = *LogDirectory::open_for_reading(place())->segments();
  ASSERT_GT(segments.size(), 3U);
  for (const std::uint64_t segment : {segments.front(), segments[1], segments.back()}) {
    const fs::path file = place() / segment_name(segment);
    fs::rename(file, dir_ / "away");
    EXPECT_TRUE(verify().problem) << segment;
    fs::rename(dir_ / "away", file);
  }
  for (const std::uint64_t segment : segments)
    fs::rename(place() / segment_name(segment), dir_ / segment_name(segment));
  EXPECT_TRUE(verify().problem) << "all of them";
  for (const std::uint64_t segment : segments)
    fs::rename(dir_ / segment_name(segment), place() / segment_name(segment));
  fs::rename(place() / "head", dir_ / "away");
  EXPECT_TRUE(verify().problem);
  fs::rename(dir_ / "away", place() / "head");
  EXPECT_FALSE(verify().problem) << why(verify());
}

class CheckpointedLog : public LogTest {
 protected:
  CheckpointedLog() {
    key_.seed = std::string(kEd25519KeyBytes, 'k');
    key_.public_key = *ed25519_public_key(key_.seed);
    key_.name = "example.org/audit";
  }
  void keep_keys() {
    write(dir_ / "key", private_key_text(key_));
    fs::permissions(dir_ / "key", fs::perms::owner_read | fs::perms::owner_write);
    write(place() / "checkpoint.pub", public_key_text(key_));
    const LogDirectory directory = *LogDirectory::open_for_writing(place());
    ASSERT_TRUE(write_checkpoint_settings(directory, {.key = dir_ / "key", .copy_to = {dir_.path()}}));
  }
  Checkpoint checkpoint() {
    const LogDirectory directory = *LogDirectory::open_for_writing(place());
    const Result<Checkpoint> made = make_checkpoint(directory);
    if (!made) ADD_FAILURE() << made.error().message;
    return made ? *made : Checkpoint{};
  }
  NoteKey key_;
};

TEST_F(CheckpointedLog, C39_grows_over_full_tiles_and_every_old_checkpoint_still_holds) {
  fill(5);
  keep_keys();
  std::vector<Checkpoint> kept{checkpoint()};
  for (const std::uint64_t more : {1, 250, 256, 300, 66'000}) {
    fill(more);
    kept.push_back(checkpoint());
  }
  EXPECT_EQ(kept.back().size, 66'812U);
  const Verification found = verify({.kept = kept});
  EXPECT_FALSE(found.problem) << why(found);
  EXPECT_EQ(found.checkpoints.size(), kept.size() + 1);  // and the log's own
  EXPECT_TRUE(fs::exists(place() / "tile/1/000"));
  EXPECT_TRUE(fs::exists(place() / "tile/0/259"));
  EXPECT_FALSE(fs::exists(place() / "tile/0/000.p"));
  EXPECT_TRUE(fs::exists(dir_ / "example.org_audit-0000000000066812"));
}

// What the chain cannot show: a log completely rewritten, with hashes and head.
TEST_F(CheckpointedLog, C39_a_past_written_anew_is_found_by_any_old_checkpoint) {
  fill(20);
  keep_keys();
  const Checkpoint old = checkpoint();
  ASSERT_FALSE(verify({.kept = {old}}).problem);
  fs::remove_all(place());
  const std::unique_ptr<AppendLog> log = open();
  for (std::uint64_t i = 1; i <= 30; ++i) ASSERT_TRUE(log->append(test_members(i == 7 ? 700 : i)));
  EXPECT_FALSE(verify().problem) << "the control: the chain alone is whole";
  const Verification found = verify({.kept = {old}});
  ASSERT_TRUE(found.problem);
  EXPECT_EQ(found.problem->seq, 20U);
}

TEST_F(CheckpointedLog, C39_a_changed_tile_or_checkpoint_is_found) {
  fill(300);
  keep_keys();
  static_cast<void>(checkpoint());
  ASSERT_FALSE(verify().problem) << why(verify());
  for (const char* name : {"checkpoint", "tile/0/000", "tile/0/001.p/44", "tile/1/000.p/1", "tile/entries/000"}) {
    const std::string bytes = read(place() / name);
    ASSERT_FALSE(bytes.empty()) << name;
    std::string changed = bytes;
    changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 1);
    write(place() / name, changed);
    EXPECT_TRUE(verify().problem) << name;
    write(place() / name, bytes);
  }
  EXPECT_FALSE(verify().problem) << why(verify());
}

TEST_F(LogTest, A_clock_that_goes_back_is_said_and_is_no_damage) {
  const std::unique_ptr<AppendLog> log = open();
  for (const std::uint64_t time : {5, 6, 2, 7}) ASSERT_TRUE(log->append(test_members(time)));
  const Verification found = verify();
  EXPECT_FALSE(found.problem) << why(found);
  EXPECT_EQ(found.clock_went_back, 1U);
}

TEST_F(LogTest, C33_an_intent_without_an_end_is_named) {
  const std::unique_ptr<AppendLog> log = open();
  ASSERT_TRUE(log->append(test_members(1, "intent")));
  ASSERT_TRUE(log->append(test_members(2, "intent")));
  ASSERT_TRUE(log->append(test_members(1, "result")));
  const Verification found = verify();
  EXPECT_EQ(found.open_intents, 1U);
  ASSERT_EQ(found.open_runs.size(), 1U);
  EXPECT_EQ(found.open_runs.front(), fmt::format("{:032x}", 2));
}

}  // namespace
}  // namespace sallyport::audit
