#include "core/persistence/known_names.h"

#include <algorithm>
#include <array>

#include "core/text/utf8.h"

namespace sallyport::persistence {
namespace {

// From next_hfs_char() of git's utf8.c.
bool is_ignored_by_hfs(char32_t c) {
  return (c >= 0x200c && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) || (c >= 0x206a && c <= 0x206f) || c == 0xfeff;
}

std::string folded(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  while (!path.empty()) {
    const char first = path.front();
    if (static_cast<unsigned char>(first) < 0x80) {
      out += first >= 'A' && first <= 'Z' ? static_cast<char>(first - 'A' + 'a') : (first == '\\' ? '/' : first);
      path.remove_prefix(1);
      continue;
    }
    const Utf8Char next = decode_utf8(path);
    const std::string_view bytes = path.substr(0, std::max<std::size_t>(next.length, 1));
    // The two letters outside ASCII whose lower case is in ASCII.
    if (next.code_point == 0x212a) {
      out += 'k';
    } else if (next.code_point == 0x17f) {
      out += 's';
    } else if (next.length == 0 || !is_ignored_by_hfs(next.code_point)) {
      out += bytes;
    }
    path.remove_prefix(bytes.size());
  }
  return out;
}

bool is_short_name_of_git(std::string_view component) {
  return component.size() == 5 && component.starts_with("git~") && component[4] >= '1' && component[4] <= '9';
}

// On NTFS, a stream's name after a colon, and dots and blanks at the end, lead to the same file.
std::string_view without_ntfs_end(std::string_view component) {
  component = component.substr(0, component.find(':', 1));
  const std::size_t last = component.find_last_not_of(". ");
  return last == std::string_view::npos ? component : component.substr(0, last + 1);
}

constexpr auto kHooks = std::to_array<std::string_view>({"applypatch-msg",
                                                         "pre-applypatch",
                                                         "post-applypatch",
                                                         "pre-commit",
                                                         "pre-merge-commit",
                                                         "prepare-commit-msg",
                                                         "commit-msg",
                                                         "post-commit",
                                                         "pre-rebase",
                                                         "post-checkout",
                                                         "post-merge",
                                                         "pre-push",
                                                         "pre-receive",
                                                         "post-receive",
                                                         "post-update",
                                                         "reference-transaction",
                                                         "push-to-checkout",
                                                         "pre-auto-gc",
                                                         "post-rewrite",
                                                         "sendemail-validate",
                                                         "fsmonitor-watchman",
                                                         "p4-changelist",
                                                         "p4-prepare-changelist",
                                                         "p4-post-changelist",
                                                         "p4-pre-submit",
                                                         "post-index-change",
                                                         "proc-receive"});

}  // namespace

std::string as_compared(std::string_view path) {
  const std::string plain = folded(path);
  std::string out;
  out.reserve(plain.size());
  for (std::string_view rest = plain; !rest.empty();) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view component = without_ntfs_end(rest.substr(0, slash));
    out += is_short_name_of_git(component) ? std::string_view(".git") : component;
    if (slash < rest.size()) out += '/';
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  return out;
}

bool is_rc_file(std::string_view name) {
  if (!name.starts_with('.')) return false;
  const std::string_view stem = name.substr(1, name.find('.', 1) - 1);
  return stem.size() > 2 && stem.ends_with("rc");
}

bool is_hook_name(std::string_view name, std::string_view path) {
  if (std::ranges::find(kHooks, name) != kHooks.end()) return true;
  return name == "update" && path.ends_with("hooks/update");
}

bool is_head_of_git(std::string_view text) {
  constexpr std::string_view kReference = "ref:";
  if (text.starts_with(kReference)) {
    text.remove_prefix(kReference.size());
    text.remove_prefix(std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
    return text.starts_with("refs/");
  }
  constexpr std::size_t kSha1Digits = 40;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789abcdefABCDEF"), text.size());
  return digits >= kSha1Digits && (digits == text.size() || text[digits] <= ' ');
}

}  // namespace sallyport::persistence
