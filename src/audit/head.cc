#include "audit/head.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <vector>

#include "core/bytes/sha256.h"
#include "core/errors.h"
#include "core/text/number.h"
#include "os/file.h"

namespace sallyport::audit {
namespace {

constexpr std::size_t kSlotBytes = 256;
constexpr std::size_t kCheckDigits = 16;

off_t offset_of(Slot slot) { return slot == Slot::kWritten ? 0 : static_cast<off_t>(kSlotBytes); }

std::string check_of(std::string_view text) { return sha256_hex(text).substr(0, kCheckDigits); }

std::optional<HeadSlot> parse_slot(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || end < kCheckDigits + 1) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  const std::string_view said = line.substr(0, line.size() - kCheckDigits - 1);
  if (check_of(said) != line.substr(line.size() - kCheckDigits)) return std::nullopt;
  std::vector<std::string_view> words;
  for (std::string_view rest = said; !rest.empty();) {
    words.push_back(rest.substr(0, rest.find(' ')));
    rest.remove_prefix(std::min(words.back().size() + 1, rest.size()));
  }
  if (words.size() != 5 || !is_sha256_hex(words[3])) return std::nullopt;
  const auto segment = whole_number<std::uint64_t>(words[0]);
  const auto offset = whole_number<std::uint64_t>(words[1]);
  const auto seq = whole_number<std::uint64_t>(words[2]);
  if (!segment || !offset || !seq) return std::nullopt;
  HeadSlot slot;
  slot.at.segment = *segment;
  slot.at.offset = *offset;
  slot.at.seq = *seq;
  slot.at.hash = words[3];
  slot.boot = words[4];
  return slot;
}

}  // namespace

std::optional<HeadSlot> read_slot(int fd, Slot slot) {
  // A reader without the lock can collide with a writer: the checksum shows that, and the next try finds a whole slot.
  for (int tries = 0; tries < 8; ++tries) {
    std::array<char, kSlotBytes> bytes{};
    const ssize_t got = ::pread(fd, bytes.data(), bytes.size(), offset_of(slot));
    if (got <= 0) return std::nullopt;
    std::optional<HeadSlot> head = parse_slot({bytes.data(), static_cast<std::size_t>(got)});
    if (head) return head;
  }
  return std::nullopt;
}

Status write_slot(int fd, Slot slot, const HeadSlot& head) {
  std::string text =
      fmt::format("{} {} {} {} {}", head.at.segment, head.at.offset, head.at.seq, head.at.hash, head.boot);
  text += fmt::format(" {}\n", check_of(text));
  text.resize(kSlotBytes, ' ');
  if (const int problem = past_file_limit(static_cast<std::uint64_t>(offset_of(slot)) + text.size())) {
    return fail(system_error("write", "the head of the audit log", problem));
  }
  const ssize_t put = ::pwrite(fd, text.data(), text.size(), offset_of(slot));
  if (put == std::ssize(text)) return {};
  return fail(system_error("write", "the head of the audit log", put < 0 ? errno : ENOSPC));
}

std::string boot_id() {
  Result<std::string> text = read_whole_file("/proc/sys/kernel/random/boot_id", ByteCount{128});
  if (!text || text->empty()) return "unknown";
  while (!text->empty() && text->back() <= ' ') text->pop_back();
  return *std::move(text);
}

}  // namespace sallyport::audit
