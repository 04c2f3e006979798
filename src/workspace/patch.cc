#include "workspace/patch.h"

#include <fmt/format.h>

#include <optional>

#include "core/text/unified_diff.h"

namespace sallyport::workspace {
namespace {

// As git writes it: in quotes with C's escapes when a byte needs one.
std::string quoted_name(std::string_view side, const std::string& path) {
  std::string text;
  bool needs_quotes = false;
  for (const char c : std::string(side) + path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
    needs_quotes = needs_quotes || !plain;
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (plain) {
      text += c;
    } else {
      text += fmt::format("\\{:03o}", byte);
    }
  }
  return needs_quotes ? "\"" + text + "\"" : text;
}

std::uint32_t git_mode(FileType type, std::uint32_t mode) {
  if (type == FileType::kSymlink) return 0120000;
  return (mode & 0100U) != 0 ? 0100755 : 0100644;
}

std::string head(const Change& change) {
  std::string text = fmt::format("diff --git {} {}\n", quoted_name("a/", change.path), quoted_name("b/", change.path));
  const std::uint32_t before = git_mode(change.before, change.mode_before);
  const std::uint32_t after = git_mode(change.after, change.mode_after);
  if (change.before == FileType::kNone) {
    text += fmt::format("new file mode {:06o}\n", after);
  } else if (change.after == FileType::kNone) {
    text += fmt::format("deleted file mode {:06o}\n", before);
  } else if (before != after) {
    text += fmt::format("old mode {:06o}\nnew mode {:06o}\n", before, after);
  }
  return text;
}

}  // namespace

std::string patch_text(const Change& change, const std::string& before, const std::string& after) {
  const std::optional<std::string> hunks = unified_hunks(before, after);
  if (!hunks) return patch_without_text(change, "no text, or too large to show");
  std::string text = head(change);
  if (hunks->empty()) return text;
  text += fmt::format("--- {}\n", change.before == FileType::kNone ? "/dev/null" : quoted_name("a/", change.path));
  text += fmt::format("+++ {}\n", change.after == FileType::kNone ? "/dev/null" : quoted_name("b/", change.path));
  return text + *hunks;
}

std::string patch_without_text(const Change& change, std::string_view why) {
  return head(change) + fmt::format("# {} {} ({})\n", quoted_name("", change.path), name_of(change.kind), why);
}

}  // namespace sallyport::workspace
