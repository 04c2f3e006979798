// Text that many hold and nobody changes: a copy costs no more than counting it. The files a jail gets of /etc are tens
// of kilobytes, and every run names them several times.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace sallyport {

class SharedText {
 public:
  SharedText() = default;
  template <std::convertible_to<std::string> Text>
  SharedText(Text&& text)  // NOLINT(google-explicit-constructor): it is the text
      : text_(std::make_shared<const std::string>(std::forward<Text>(text))) {}

  [[nodiscard]] std::string_view view() const { return text_ ? std::string_view(*text_) : std::string_view(); }
  [[nodiscard]] std::size_t size() const { return view().size(); }

  // The same object is the same text, which is the usual case and needs no look at it.
  friend bool operator==(const SharedText& one, const SharedText& other) {
    return one.text_ == other.text_ || one.view() == other.view();
  }

 private:
  std::shared_ptr<const std::string> text_;
};

}  // namespace sallyport
