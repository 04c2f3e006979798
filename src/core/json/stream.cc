// Writes a run's record in pieces: it must not copy two captured streams of 64 MiB together with their escapes.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/bytes/base64.h"
#include "core/json/json.h"
#include "core/json/run_parts.h"
#include "core/text/utf8.h"

namespace sallyport {
namespace {

constexpr std::size_t kPiece = std::size_t{48} << 10U;  // a multiple of 3: base64 of each piece needs no padding
static_assert(kPiece % 3 == 0);

// The JSON escape of one byte of valid UTF-8; empty: none needed.
std::string_view escape_of(unsigned char byte) {
  static constexpr std::array<std::string_view, 32> kControls = {
      "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007",
      "\\b",     "\\t",     "\\n",     "\\u000b", "\\f",     "\\r",     "\\u000e", "\\u000f",
      "\\u0010", "\\u0011", "\\u0012", "\\u0013", "\\u0014", "\\u0015", "\\u0016", "\\u0017",
      "\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c", "\\u001d", "\\u001e", "\\u001f"};
  if (byte < kControls.size()) return kControls[byte];
  if (byte == '"') return "\\\"";
  if (byte == '\\') return "\\\\";
  return {};
}

bool send_text(std::string_view bytes, const JsonSink& sink) {
  std::string piece;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kPiece, bytes.size()))) {
    piece.clear();
    for (const char byte : bytes.substr(0, kPiece)) {
      const std::string_view escaped = escape_of(static_cast<unsigned char>(byte));
      if (escaped.empty()) {
        piece.push_back(byte);
      } else {
        piece += escaped;
      }
    }
    if (!sink(piece)) return false;
  }
  return true;
}

bool send_base64(std::string_view bytes, const JsonSink& sink) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kPiece, bytes.size()))) {
    if (!sink(base64(bytes.substr(0, kPiece)))) return false;
  }
  return true;
}

bool send_stream(std::string_view name, const CapturedStream& stream, const JsonSink& sink) {
  const bool as_text = stream_encoding(stream.bytes) == StreamEncoding::kUtf8;
  return sink(name) && (as_text ? send_text(stream.bytes, sink) : send_base64(stream.bytes, sink)) && sink("\"");
}

}  // namespace

StreamEncoding stream_encoding(std::string_view bytes) {
  if (!is_valid_utf8(bytes)) return StreamEncoding::kBase64;
  std::size_t escaped = 0;
  for (const char byte : bytes) escaped += std::max<std::size_t>(1, escape_of(static_cast<unsigned char>(byte)).size());
  const std::size_t encoded = (bytes.size() + 2) / 3 * 4;
  // Write a short text as text, whatever is in it: that is easier to read than base64.
  constexpr std::size_t kLittle = 4096;
  return escaped > encoded && escaped > kLittle ? StreamEncoding::kBase64 : StreamEncoding::kUtf8;
}

bool stream_run_record(const JailedSubprocessResult& result, const Json& events, const JsonSink& sink) {
  const RunRecordParts parts = run_record_parts(result);
  std::string before = json_dump(parts.before);
  before.pop_back();  // its closing brace
  Json rest = parts.after;
  rest["events"] = events;
  std::string after = json_dump(rest);
  after.front() = ',';  // its opening brace
  return sink(before) && send_stream(",\"stdout\":\"", result.stdout_stream, sink) &&
         send_stream(",\"stderr\":\"", result.stderr_stream, sink) && sink(after);
}

}  // namespace sallyport
