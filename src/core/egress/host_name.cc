#include "core/egress/host_name.h"

#include <fmt/format.h>
#include <idn2.h>

#include <algorithm>
#include <memory>

#include "core/egress/ascii.h"
#include "core/errors.h"
#include "core/text/printable.h"
#include "core/text/utf8.h"

namespace sallyport {
namespace {

constexpr std::size_t kLongestNameLabel = 63;
// A Unicode name is at most a small factor longer than its A-labels; a longer text is no name.
constexpr std::size_t kLongestText = 1024;
constexpr std::string_view kNameHint = "a host name is letters, digits, hyphens and dots: host.example";

struct Idn2Free {
  void operator()(char* text) const { idn2_free(text); }
};
using Idn2Text = std::unique_ptr<char, Idn2Free>;

Error bad_name(std::string_view text, std::string_view why, std::string_view hint = kNameHint) {
  Error error = invalid_request(fmt::format("host name '{}'", printable(text)), why, hint);
  error.detail = InvalidRequest{.field = "host name"};
  return error;
}

bool is_all_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}
bool is_control_char(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; }
bool is_host_name_char(char c) { return is_ascii_alnum(c) || c == '-' || c == '_' || c == '.'; }

// True for what URL parsers take for the last part of an IPv4 address, valid or not ("1.2.3.4.5" and "09" end in one,
// "0x7g" is none).
bool looks_like_number(std::string_view label) {
  if (std::ranges::all_of(label, is_ascii_digit)) return true;
  return label.starts_with("0x") && label.find_first_not_of("0123456789abcdef", 2) == std::string_view::npos;
}

// UTS 46 without transitional mappings, then IDNA 2008. No locale takes part: the input is UTF-8.
Result<std::string> to_a_labels(const std::string& text, std::string_view shown) {
  char* out = nullptr;
  const int code = idn2_to_ascii_8z(text.c_str(), &out, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
  const Idn2Text owned(out);
  if (code != IDN2_OK) return fail(bad_name(shown, fmt::format("not an IDNA name: {}", idn2_strerror_name(code))));
  return std::string(owned.get());
}

// An "xn--" label that does not decode, or that encodes differently again, would compare unequal to itself.
Status check_a_label(std::string_view label, std::string_view shown) {
  char* out = nullptr;
  const int code = idn2_to_unicode_8z8z(std::string(label).c_str(), &out, IDN2_NONTRANSITIONAL);
  const Idn2Text unicode(out);
  if (code != IDN2_OK) return fail(bad_name(shown, fmt::format("'{}' is not valid punycode", label)));
  if (is_all_ascii(unicode.get()) || TRY(to_a_labels(unicode.get(), shown)) != label) {
    return fail(bad_name(shown, fmt::format("'{}' is not the one spelling of its name", label)));
  }
  return {};
}

Status check_name_label(std::string_view label, std::string_view shown) {
  if (label.empty()) return fail(bad_name(shown, "a label is empty"));
  if (label.size() > kLongestNameLabel) return fail(bad_name(shown, "a label is longer than 63 bytes"));
  if (label.front() == '-' || label.back() == '-') {
    return fail(bad_name(shown, "a label begins or ends with a hyphen"));
  }
  if (label.starts_with("xn--")) return check_a_label(label, shown);
  return {};
}

// `name` is ASCII and in lower case.
Result<std::string> check_ascii(std::string name, std::string_view shown) {
  if (parse_ip_address(name)) {
    return fail(bad_name(shown, "an IP address, not a name", "allow it under a name: NAME:PORT=ADDR:PORT"));
  }
  if (name.ends_with('.')) name.pop_back();
  if (name.empty()) return fail(bad_name(shown, "no name"));
  const auto bad = std::ranges::find_if_not(name, is_host_name_char);
  if (bad != name.end()) return fail(bad_name(shown, fmt::format("'{}' cannot be part of a name", *bad)));
  if (name.size() > kLongestHostName) return fail(bad_name(shown, "longer than 253 bytes"));
  std::string_view rest = name;
  while (true) {
    const std::size_t dot = rest.find('.');
    TRY(check_name_label(rest.substr(0, dot), shown));
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  if (looks_like_number(rest)) return fail(bad_name(shown, "ends in a number, as IP addresses do"));
  return name;
}

}  // namespace

Result<std::string> normalise_host_name(std::string_view text) {
  if (text.empty()) return fail(bad_name(text, "no name"));
  if (text.size() > kLongestText) return fail(bad_name(text.substr(0, kLongestHostName), "longer than 253 bytes"));
  // Check before any call that takes a C string: a NUL must not end the name early.
  if (std::ranges::any_of(text, is_control_char))
    return fail(bad_name(text, "a control character cannot be part of a name"));
  std::string name(text);
  std::ranges::transform(name, name.begin(), ascii_lower);
  if (is_all_ascii(name)) return check_ascii(std::move(name), text);
  if (!is_valid_utf8(name)) return fail(bad_name(text, "not valid UTF-8"));
  return check_ascii(TRY(to_a_labels(name, text)), text);
}

}  // namespace sallyport
