// Picks a few members from a JSON object's text. Readers of many large records need little of each: we skip the rest by
// brackets and quotes alone, some twenty times faster than parsing it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"

namespace sallyport {

// The members of an object's text, one after the other, as written. It understands only brackets and quotes; the parser
// of a value checks that it is JSON.
class MemberScan {
 public:
  explicit MemberScan(std::string_view object);
  // False at the end, and where the text stops looking like an object: see is_whole().
  [[nodiscard]] bool next();
  [[nodiscard]] std::string_view name() const { return name_; }    // without its quotes, escapes as they are
  [[nodiscard]] std::string_view value() const { return value_; }  // its text
  // After the last member: true when the text was an object to its end.
  [[nodiscard]] bool is_whole() const { return whole_; }

 private:
  std::string_view rest_;
  std::string_view name_;
  std::string_view value_;
  bool started_ = false;
  bool whole_ = false;
};

using MemberNames = std::vector<std::string_view>;

// The object's text with only these members, in their order there; "request.argv" is a member of a member. Empty:
// `object` is no object.
[[nodiscard]] std::string picked_text(std::string_view object, const MemberNames& names);
// The same, parsed. Discarded when it is no object, or a wanted member is no JSON.
[[nodiscard]] Json picked(std::string_view object, const MemberNames& names);

}  // namespace sallyport
