#include "core/audit/record_line.h"

#include <fmt/format.h>

#include <charconv>

#include "core/bytes/sha256.h"

namespace sallyport::audit {
namespace {

constexpr std::string_view kBeforeSeq = R"({"schema":"sallyport.audit/1","seq":)";
constexpr std::string_view kBeforePrev = R"(,"prev":")";
constexpr std::string_view kBeforeTime = R"(","time":")";
constexpr std::string_view kBeforeKind = R"(","kind":")";
constexpr std::string_view kBeforeRun = R"(","run":")";
constexpr std::string_view kBeforeHash = R"(,"hash":")";
constexpr std::string_view kEnd = R"("})";
constexpr std::size_t kHexDigits = 64;
constexpr std::size_t kTail = kBeforeHash.size() + kHexDigits + kEnd.size();

// Hashes two pieces, so that no line has to be copied.
std::string hash_of(std::string_view before_hash) {
  Sha256 hasher;
  hasher.update(before_hash);
  hasher.update("}");
  return std::move(hasher).hex();
}

bool take(std::string_view& rest, std::string_view word) {
  if (!rest.starts_with(word)) return false;
  rest.remove_prefix(word.size());
  return true;
}

// Takes a string without escapes, up to but without its closing quote.
std::string_view take_plain(std::string_view& rest) {
  const std::string_view text = rest.substr(0, rest.find_first_of("\"\\"));
  rest.remove_prefix(text.size());
  return text;
}

bool take_number(std::string_view& rest, std::uint64_t& number) {
  const auto [after, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc{}) return false;
  rest.remove_prefix(static_cast<std::size_t>(after - rest.data()));
  return true;
}

}  // namespace

SealedLine seal_record(std::uint64_t seq, std::string_view prev, std::string_view members) {
  members.remove_prefix(1);
  members.remove_suffix(1);
  std::string line = fmt::format("{}{}{}{}\",{}", kBeforeSeq, seq, kBeforePrev, prev, members);
  std::string hash = hash_of(line);
  line += fmt::format("{}{}{}\n", kBeforeHash, hash, kEnd);
  return {.line = std::move(line), .hash = std::move(hash)};
}

std::expected<RecordLine, std::string_view> parse_record(std::string_view line) {
  RecordLine record;
  std::string_view rest = line;
  const bool begins = take(rest, kBeforeSeq) && take_number(rest, record.seq) && take(rest, kBeforePrev);
  if (!begins) return std::unexpected("it does not begin like a record");
  record.prev = take_plain(rest);
  if (!is_sha256_hex(record.prev) || !take(rest, kBeforeTime)) return std::unexpected("its prev is no hash");
  record.time = take_plain(rest);
  if (!take(rest, kBeforeKind)) return std::unexpected("its time is not in place");
  record.kind = take_plain(rest);
  if (!take(rest, kBeforeRun)) return std::unexpected("its kind is not in place");
  record.run = take_plain(rest);
  if (rest.size() < kTail + 1) return std::unexpected("it is cut off");
  std::string_view tail = line.substr(line.size() - kTail);
  if (!take(tail, kBeforeHash) || !tail.ends_with(kEnd)) return std::unexpected("it does not end in its hash");
  record.hash = tail.substr(0, kHexDigits);
  if (!is_sha256_hex(record.hash)) return std::unexpected("its hash is none");
  return record;
}

std::expected<RecordLine, std::string_view> open_record(std::string_view line) {
  std::expected<RecordLine, std::string_view> record = parse_record(line);
  if (record && hash_of(line.substr(0, line.size() - kTail)) != record->hash) {
    return std::unexpected("its hash does not fit its bytes");
  }
  return record;
}

}  // namespace sallyport::audit
