#include "audit/transparency.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>

#include "audit/head.h"
#include "audit/log_reader.h"
#include "audit/tiles.h"
#include "core/errors.h"
#include "core/json/json.h"
#include "core/text/printable.h"
#include "os/file.h"

namespace sallyport::audit {
namespace {

constexpr const char* kSettingsFile = "checkpoint.json";
constexpr const char* kErrorFile = "checkpoint.error";  // also the lock: only one process makes a checkpoint
constexpr ByteCount kSmallFile = mebibytes(1);

Error bad_settings(const LogDirectory& directory, std::string_view why) {
  return directory.failed(EINVAL, fmt::format("{}: {}", kSettingsFile, why), "write it anew with a new pair of keys");
}

Result<CheckpointSettings> parse_settings(const LogDirectory& directory, const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("key") || !json["key"].is_string()) {
    return fail(bad_settings(directory, "it names no key"));
  }
  CheckpointSettings settings{.key = json["key"].get<std::string>()};
  for (const Json& place : json.value("copy_to", Json::array())) {
    if (!place.is_string()) return fail(bad_settings(directory, "copy_to is no list of directories"));
    settings.copy_to.emplace_back(place.get<std::string>());
  }
  const Json every = json.value("every_records", Json(settings.every_records));
  const Json seconds = json.value("every_seconds", Json(settings.every.count()));
  if (!every.is_number_unsigned() || !seconds.is_number_unsigned() || every.get<std::uint64_t>() == 0) {
    return fail(bad_settings(directory, "every_records and every_seconds are no counts"));
  }
  settings.every_records = every.get<std::uint64_t>();
  settings.every = std::chrono::seconds(seconds.get<std::int64_t>());
  return settings;
}

// How many records the last checkpoint covers (its file's second line), and how old it is.
struct LastCheckpoint {
  std::uint64_t size = 0;
  std::chrono::seconds age{};
};

std::optional<LastCheckpoint> last_checkpoint(const LogDirectory& directory) {
  const Result<UniqueFd> fd = directory.open_file("checkpoint", O_RDONLY);
  struct stat info{};
  if (!fd || ::fstat(fd->get(), &info) != 0) return std::nullopt;
  const Result<std::string> text = read_all(fd->get(), kSmallFile, "checkpoint");
  if (!text) return std::nullopt;
  const std::size_t line = text->find('\n');
  LastCheckpoint last;
  if (line == std::string::npos) return std::nullopt;
  static_cast<void>(std::from_chars(text->data() + line + 1, text->data() + text->size(), last.size));
  last.age = std::chrono::seconds(::time(nullptr) - info.st_mtim.tv_sec);
  return last;
}

// Syncs every record that the checkpoint will cover before it is signed. Writers synced earlier files when they
// finished them.
Status sync_last_segment(const LogDirectory& directory) {
  const std::vector<std::uint64_t> segments = TRY(directory.segments());
  if (segments.empty()) return {};
  const UniqueFd fd = TRY(directory.open_file(segment_name(segments.back()), O_RDONLY));
  if (::fdatasync(fd.get()) != 0) return fail(directory.failed(errno, {}));
  return {};
}

// Where the last checkpoint's records end, so that we need not read them again.
std::optional<Position> position_after(const LogDirectory& directory, std::uint64_t covered) {
  const Result<UniqueFd> fd = directory.open_file("checkpoint.at", O_RDONLY);
  const std::optional<HeadSlot> slot = fd ? read_slot(fd->get(), Slot::kWritten) : std::nullopt;
  if (!slot || slot->at.seq != covered) return std::nullopt;
  return slot->at;
}

// The tree over all records, from the tiles and the records after them.
Result<Checkpoint> extend_tiles(const LogDirectory& directory, const NoteKey& key, std::uint64_t covered) {
  TileBuilder tiles = TRY(TileBuilder::resume(directory, covered));
  const std::optional<Position> known = position_after(directory, covered);
  LogReader reader = known ? TRY(LogReader::open_behind(directory, *known)) : TRY(LogReader::open(directory));
  TRY(sync_last_segment(directory));
  while (const std::optional<LogRecord> record = TRY(reader.next())) {
    if (record->line.seq <= covered) continue;
    if (!open_record(record->text))
      return fail(directory.failed(EILSEQ, fmt::format("record {} is damaged", record->line.seq)));
    TRY(tiles.add(record->line.hash));
  }
  TRY(tiles.finish());
  const UniqueFd at = TRY(directory.open_file("checkpoint.at", O_RDWR | O_CREAT));
  TRY(write_slot(at.get(), Slot::kWritten, {.at = reader.position(), .boot = "any"}));
  return Checkpoint{.origin = key.name, .size = tiles.size(), .root = tiles.root()};
}

Status copy_checkpoint(const CheckpointSettings& settings, const Checkpoint& checkpoint, const std::string& note) {
  std::string origin = checkpoint.origin;
  for (char& c : origin) c = c == '/' ? '_' : c;
  for (const std::filesystem::path& place : settings.copy_to) {
    TRY(write_file_atomically(place / fmt::format("{}-{:016}", origin, checkpoint.size), note));
  }
  return {};
}

Result<Checkpoint> checkpoint_with(const LogDirectory& directory, const CheckpointSettings& settings) {
  const NoteKey key = TRY(read_note_key(settings.key));
  if (key.seed.empty()) return fail(bad_settings(directory, "its key is a public one"));
  const std::optional<LastCheckpoint> last = last_checkpoint(directory);
  const std::uint64_t covered = last ? last->size : 0;
  const Checkpoint checkpoint = TRY(extend_tiles(directory, key, covered));
  const std::optional<std::string> note = sign_checkpoint(checkpoint, key);
  if (!note) return fail(directory.failed(EINVAL, "the checkpoint could not be signed"));
  TRY(write_file_atomically(directory.path() / "checkpoint", *note));
  TRY(copy_checkpoint(settings, checkpoint, *note));
  return checkpoint;
}

}  // namespace

Result<std::optional<CheckpointSettings>> read_checkpoint_settings(const LogDirectory& directory) {
  const Result<UniqueFd> fd = directory.open_file(kSettingsFile, O_RDONLY);
  if (!fd) {
    const auto* const system = fd.error().as<SystemError>();
    if (system != nullptr && system->error_number == ENOENT) return std::nullopt;
    return fail(fd.error());
  }
  const std::string text = TRY(read_all(fd->get(), kSmallFile, kSettingsFile));
  return TRY(parse_settings(directory, text));
}

Status write_checkpoint_settings(const LogDirectory& directory, const CheckpointSettings& settings) {
  Json places = Json::array();
  for (const auto& place : settings.copy_to) places.push_back(place.native());
  const Json json = {{"key", settings.key.native()},
                     {"copy_to", std::move(places)},
                     {"every_records", settings.every_records},
                     {"every_seconds", settings.every.count()}};
  return write_file_atomically(directory.path() / kSettingsFile, json_dump(json, JsonStyle::kIndented) + "\n");
}

Result<NoteKey> read_note_key(const std::filesystem::path& file) {
  const UniqueFd fd = TRY(open_path(file, O_RDONLY | O_NOCTTY));
  const std::string text = TRY(read_all(fd.get(), kSmallFile, file.native()));
  NoteKey key = TRY(parse_note_key(text));
  if (key.seed.empty()) return key;
  // A user who can read the key can sign in our name; one who can write it can make us sign with another key. A group
  // may share it for reading.
  constexpr mode_t kTooOpen = S_IRWXO | S_IWGRP;
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return fail(system_error("stat", file.native(), errno));
  if (!S_ISREG(info.st_mode) || (info.st_mode & kTooOpen) == 0) return key;
  return fail(invalid_request("key", fmt::format("others may use it (mode {:04o})", info.st_mode & 07777U),
                              fmt::format("make a new one; to keep this one: chmod 600 {}", printable(file.native()))));
}

void checkpoint_when_due(const LogDirectory& directory, std::uint64_t seq) {
  constexpr std::chrono::seconds kBeforeNextTry{60};
  const Result<std::optional<CheckpointSettings>> settings = read_checkpoint_settings(directory);
  if (settings && !*settings) return;
  const std::optional<LastCheckpoint> last = last_checkpoint(directory);
  const bool due =
      !settings || !last || seq >= last->size + (*settings)->every_records || last->age >= (*settings)->every;
  if (!due) return;
  const Result<UniqueFd> error = directory.open_file(kErrorFile, O_RDWR | O_CREAT);
  // If we cannot get the lock, another process is making one now.
  if (!error || ::flock(error->get(), LOCK_EX | LOCK_NB) != 0) return;
  struct stat info{};
  const bool failed_before = ::fstat(error->get(), &info) == 0 && info.st_size > 0;
  if (failed_before && ::time(nullptr) - info.st_mtim.tv_sec < kBeforeNextTry.count()) return;
  const Result<Checkpoint> made = settings ? checkpoint_with(directory, **settings) : fail(settings.error());
  if (::ftruncate(error->get(), 0) != 0 || made) return;
  static_cast<void>(write_all(error->get(), made.error().message + "\n", kErrorFile));
}

std::string checkpoint_problem(const LogDirectory& directory) {
  const Result<UniqueFd> fd = directory.open_file(kErrorFile, O_RDONLY);
  Result<std::string> text = fd ? read_all(fd->get(), kSmallFile, kErrorFile) : std::string();
  while (text && text->ends_with('\n')) text->pop_back();
  return text ? *std::move(text) : std::string("it cannot be read");
}

Result<Checkpoint> make_checkpoint(const LogDirectory& directory) {
  const std::optional<CheckpointSettings> settings = TRY(read_checkpoint_settings(directory));
  if (!settings) {
    return fail(
        invalid_request("checkpoint", "this log has no key to sign one with", "make a pair of keys for the log"));
  }
  const UniqueFd lock = TRY(directory.open_file(kErrorFile, O_RDWR | O_CREAT));
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return fail(system_error("lock", kErrorFile, errno));
  }
  return checkpoint_with(directory, *settings);
}

}  // namespace sallyport::audit
