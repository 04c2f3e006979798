#include "cli/terminal_filter.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "core/text/printable.h"
#include "core/text/utf8.h"

namespace sallyport::cli {
namespace {

constexpr unsigned char kEsc = 0x1B;
constexpr unsigned char kBel = 0x07;
constexpr unsigned char kCancel = 0x18;
constexpr unsigned char kSubstitute = 0x1A;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kReset = "\x1B[0m";
// No real colour sequence is longer (true colour for foreground and background takes 38).
constexpr std::size_t kLongestColour = 64;

bool is_colour_parameter(unsigned char byte) { return (byte >= '0' && byte <= '9') || byte == ';' || byte == ':'; }

// With any of these, text stays readable on any background: six colours, bold, italic, underline and their ends. The
// others may hide it: concealed and faint text, black and white (one of them is the background), backgrounds and
// inverse (a foreground can equal them), palette and true colours (any of the former).
bool keeps_text_readable(std::string_view parameter) {
  constexpr std::string_view kKept[] = {"0",  "1",  "3",  "4",  "22", "23", "24", "31", "32", "33",
                                        "34", "35", "36", "39", "91", "92", "93", "94", "95", "96"};
  return std::ranges::find(kKept, parameter) != std::end(kKept);
}

std::string_view next_parameter(std::string_view& rest) {
  const std::size_t end = rest.find(';');
  const std::string_view parameter = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return parameter;
}

// "1;31;8" becomes "1;31".
std::string readable_parameters(std::string_view parameters) {
  if (parameters.empty()) return "0";
  std::string kept;
  while (!parameters.empty()) {
    std::string_view parameter = next_parameter(parameters);
    if (parameter.empty()) parameter = "0";
    if (parameter == "38" || parameter == "48" || parameter == "58") {
      // 38;5;N and 38;2;R;G;B: skip the parameters that belong to it.
      const std::string_view kind = next_parameter(parameters);
      for (int left = kind == "5" ? 1 : kind == "2" ? 3 : 0; left > 0; --left)
        static_cast<void>(next_parameter(parameters));
      continue;
    }
    // When we drop a foreground, the earlier one must not stay on.
    const bool other_colour = parameter.size() == 2 && (parameter.front() == '3' || parameter.front() == '9');
    if (!keeps_text_readable(parameter) && !other_colour) continue;
    if (!kept.empty()) kept.push_back(';');
    kept += keeps_text_readable(parameter) ? parameter : "39";
  }
  return kept;
}

// How many bytes a UTF-8 sequence that starts so has; 1 also for what cannot start one.
std::size_t sequence_length(unsigned char first) {
  if (first >= 0xF0 && first <= 0xF4) return 4;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xC2 && first < 0xE0) return 2;
  return 1;
}

}  // namespace

std::string TerminalFilter::filter(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (const char byte : bytes) take(byte, out);
  return out;
}

std::string TerminalFilter::finish() {
  std::string out;
  if (state_ == State::kText) flush_partial(out);
  if (state_ != State::kText) ++removed_;
  state_ = State::kText;
  pending_.clear();
  if (coloured_) out += kReset;
  coloured_ = false;
  return out;
}

void TerminalFilter::flush_partial(std::string& out) {
  if (!pending_.empty()) out += kReplacement;
  pending_.clear();
}

void TerminalFilter::take(char raw, std::string& out) {
  const auto byte = static_cast<unsigned char>(raw);
  switch (state_) {
    case State::kText:
      return take_text(byte, out);
    case State::kEscape:
    case State::kEscapeIntermediate:
      return take_escape(byte, out);
    case State::kCsi:
      return take_csi(byte, out);
    case State::kString:
      if (byte == kBel || byte == kCancel || byte == kSubstitute) state_ = State::kText;
      if (byte == kEsc) state_ = State::kStringEscape;
      return;
    case State::kStringEscape:
      // ESC \ ends the string; ESC and anything else ends it too and begins a sequence of its own.
      if (byte == '\\') {
        state_ = State::kText;
      } else {
        state_ = State::kEscape;
        take_escape(byte, out);
      }
      return;
  }
}

void TerminalFilter::take_text(unsigned char byte, std::string& out) {
  const bool continues = (byte & 0xC0) == 0x80;
  if (!pending_.empty() && !continues) flush_partial(out);
  if (byte == kEsc) {
    state_ = State::kEscape;
    return;
  }
  if (byte < 0x80) {
    const bool keep = (byte >= 0x20 && byte != 0x7F) || byte == '\n' || byte == '\t' || byte == '\r';
    if (keep) out.push_back(static_cast<char>(byte));
    if (!keep) ++removed_;
    return;
  }
  pending_.push_back(static_cast<char>(byte));
  if (pending_.size() < sequence_length(static_cast<unsigned char>(pending_.front()))) return;
  const Utf8Char next = decode_utf8(pending_);
  const bool is_c1 = next.length != 0 && next.code_point >= 0x80 && next.code_point < 0xA0;
  if (is_c1) {
    ++removed_;
  } else if (next.length != 0 && hides_text(next.code_point)) {
    ++removed_;
    out += kReplacement;
  } else {
    out += next.length == 0 ? kReplacement : std::string_view(pending_);
  }
  pending_.clear();
}

void TerminalFilter::take_escape(unsigned char byte, std::string& out) {
  if (byte == kEsc) return;
  if (byte >= 0x20 && byte <= 0x2F) {
    state_ = State::kEscapeIntermediate;
    return;
  }
  const bool first = state_ == State::kEscape;
  const bool starts_string = byte == ']' || byte == 'P' || byte == 'X' || byte == '^' || byte == '_';
  if (first && byte == '[') {
    state_ = State::kCsi;
    return;
  }
  ++removed_;
  state_ = first && starts_string ? State::kString : State::kText;
  // A control character or a byte of text is no part of the sequence: it was cut short.
  const bool is_final = byte >= 0x30 && byte <= 0x7E;
  if (!is_final) take_text(byte, out);
}

void TerminalFilter::take_csi(unsigned char byte, std::string& out) {
  const bool is_final = byte >= 0x40 && byte <= 0x7E;
  const bool is_part = byte >= 0x20 && byte <= 0x3F;
  if (is_part) {
    // Past the limit nothing is stored, but the mark that this is no colour stays.
    if (pending_.size() <= kLongestColour)
      pending_.push_back(is_colour_parameter(byte) ? static_cast<char>(byte) : '?');
    return;
  }
  const bool is_colour = byte == 'm' && pending_.size() <= kLongestColour && pending_.find('?') == std::string::npos;
  const std::string kept = is_colour ? readable_parameters(pending_) : std::string();
  if (!kept.empty()) {
    out += "\x1B[";
    out += kept;
    out += 'm';
    coloured_ = kept != "0";
  }
  if (kept.empty() || kept != (pending_.empty() ? "0" : pending_)) {
    ++removed_;
  }
  pending_.clear();
  state_ = State::kText;
  if (!is_final) take_text(byte, out);
}

}  // namespace sallyport::cli
