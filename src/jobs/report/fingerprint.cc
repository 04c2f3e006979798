#include "jobs/report/fingerprint.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "jobs/report/text.h"

namespace sallyport::jobs {
namespace {

constexpr std::size_t kWindow = 100;
constexpr std::uint64_t kMultiplier = 37;
constexpr std::uint16_t kEndOfFile = 65535;

constexpr std::uint64_t leaving_factor() {
  std::uint64_t factor = 1;
  for (std::size_t i = 0; i < kWindow; ++i) factor *= kMultiplier;
  return factor;
}

// The window slides over the units; the hash of a line is complete when the line's first unit is about to leave it.
class LineHasher {
 public:
  void unit(std::uint16_t current) {
    const bool after_cr = previous_cr_;
    previous_cr_ = current == '\r';
    if (current == ' ' || current == '\t' || (after_cr && current == '\n')) return;
    if (current == '\r') current = '\n';
    take_line_out();
    if (at_line_start_) {
      line_in_slot_.at(slot_) = ++lines_;
      at_line_start_ = false;
    }
    if (current == '\n') at_line_start_ = true;
    push(current);
  }
  [[nodiscard]] std::vector<std::string> finish() {
    unit(kEndOfFile);
    for (std::size_t i = 0; i < kWindow; ++i) {
      take_line_out();
      push(0);
    }
    return std::move(hashes_);
  }

 private:
  void push(std::uint16_t current) {
    const std::uint64_t leaving = window_.at(slot_);
    window_.at(slot_) = current;
    hash_ = kMultiplier * hash_ + current - leaving_factor() * leaving;
    slot_ = (slot_ + 1) % kWindow;
  }
  void take_line_out() {
    std::size_t& line = line_in_slot_.at(slot_);
    if (line == 0) return;
    hashes_.push_back(fmt::format("{:x}:{}", hash_, ++seen_[hash_]));
    line = 0;
  }

  std::array<std::uint16_t, kWindow> window_{};
  std::array<std::size_t, kWindow> line_in_slot_{};
  std::size_t slot_ = 0;
  std::size_t lines_ = 0;
  std::uint64_t hash_ = 0;
  bool at_line_start_ = true;
  bool previous_cr_ = false;
  std::unordered_map<std::uint64_t, std::size_t> seen_;
  std::vector<std::string> hashes_;
};

}  // namespace

std::vector<std::string> line_hashes(std::string_view content) {
  LineHasher hasher;
  for (std::size_t at = 0; at < content.size();) {
    const CodePoint one = code_point_at(content, at);
    at += one.length;
    if (one.value < 0x10000) {
      hasher.unit(static_cast<std::uint16_t>(one.value));
    } else {
      hasher.unit(static_cast<std::uint16_t>(0xD800 + ((one.value - 0x10000) >> 10U)));
      hasher.unit(static_cast<std::uint16_t>(0xDC00 + ((one.value - 0x10000) & 0x3FFU)));
    }
  }
  return hasher.finish();
}

}  // namespace sallyport::jobs
