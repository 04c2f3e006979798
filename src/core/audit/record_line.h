// The bytes of one audit record: a line of JSON whose first members have a fixed order and whose last one is the hash
// of all before it. It is pure ASCII, so no reader splits a line and no terminal obeys one.
//
//   {"schema":"sallyport.audit/1","seq":7,"prev":"<64 hex>","time":"…Z","kind":"intent","run":"<32 hex>", … ,"hash":"<64 hex>"}
//
// hash = SHA-256 of the line without `,"hash":"…"` and without the newline: the closing brace follows the previous
// member. `prev` is the hash of the previous record, 64 zeros in record 1; the hash covers `prev`, so each record seals
// all records before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace sallyport::audit {

inline constexpr std::string_view kNoRecordBefore = "0000000000000000000000000000000000000000000000000000000000000000";
// Nobody writes a longer record, so a reader need not hold more.
inline constexpr std::size_t kLongestRecord = 512 * 1024;

// `members`, from the caller, is a JSON object's text that begins with time, kind and run.
struct SealedLine {
  std::string line;  // with its newline
  std::string hash;
};
[[nodiscard]] SealedLine seal_record(std::uint64_t seq, std::string_view prev, std::string_view members);

struct RecordLine {
  std::uint64_t seq = 0;
  std::string_view prev;
  std::string_view time;
  std::string_view kind;
  std::string_view run;
  std::string_view hash;
};
// Reads the fixed members without checking the hash: for showing records.
[[nodiscard]] std::expected<RecordLine, std::string_view> parse_record(std::string_view line);
// Reads the fixed members and checks the hash. `line` without its newline; the views point into it. The error says what is wrong
// in a few words.
[[nodiscard]] std::expected<RecordLine, std::string_view> open_record(std::string_view line);

}  // namespace sallyport::audit
