#include "cli/log_commands.h"

namespace sallyport::cli {
namespace {

// Bytes past ASCII may be a Unicode blank, which the runner strips too; treating accented letters like that does no
// harm.
bool may_be_blank(unsigned char byte) { return byte <= 0x20 || byte >= 0x7F; }

bool can_name_a_command(char byte) {
  return byte == '[' || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

}  // namespace

std::string LogCommandFilter::filter(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (const char byte : bytes) {
    const bool begins_command = line_ == Line::kOneColon && byte == ':';
    if (begins_command || (hashes_ >= 2 && can_name_a_command(byte))) out.push_back('\\');
    out.push_back(byte);
    hashes_ = byte == '#' ? hashes_ + 1 : 0;
    if (byte == '\n' || byte == '\r') {
      line_ = Line::kOnlyBlanks;
    } else if (line_ == Line::kOnlyBlanks && byte == ':') {
      line_ = Line::kOneColon;
    } else if (line_ != Line::kOnlyBlanks || !may_be_blank(static_cast<unsigned char>(byte))) {
      line_ = Line::kText;
    }
  }
  return out;
}

std::string without_log_commands(std::string json) {
  for (std::size_t at = json.find("##"); at != std::string::npos; at = json.find("##", at)) {
    json.replace(at + 1, 1, "\\u0023");
    at += 1;
  }
  return json;
}

}  // namespace sallyport::cli
