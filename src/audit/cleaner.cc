#include "audit/cleaner.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/text/utf8.h"

namespace sallyport::audit {
namespace {

constexpr std::size_t kLongestText = 2048;
constexpr std::size_t kMostItems = 64;
constexpr std::size_t kMostArguments = 256;

}  // namespace

Json Cleaner::text(std::string_view bytes) { return bounded(redact_text(bytes, redacted_.secrets)); }

Json Cleaner::tree(Json value) {
  if (value.is_string()) return text(value.get_ref<const std::string&>());
  if (value.is_array() && value.size() > kMostItems) {
    const std::size_t left_out = value.size() - kMostItems;
    value.erase(value.begin() + static_cast<std::ptrdiff_t>(kMostItems), value.end());
    value.push_back(fmt::format("[+{} items]", left_out));
  }
  if (!value.is_structured()) return value;
  for (Json& item : value) item = tree(std::move(item));
  return value;
}

Json Cleaner::paths(const std::vector<std::filesystem::path>& paths) {
  Json list = Json::array();
  for (const auto& path : paths) list.push_back(json_text(path.native()));
  return tree(std::move(list));
}

Json Cleaner::argv() {
  Json list = Json::array();
  for (const std::string& word : redacted_.argv) {
    if (list.size() == kMostArguments) break;
    list.push_back(bounded(word));
  }
  const std::size_t left_out = redacted_.argv.size() - list.size();
  if (left_out > 0) list.push_back(fmt::format("[+{} arguments]", left_out));
  return list;
}

Json Cleaner::bounded(std::string kept) {
  const std::size_t most = std::min(kLongestText, left_);
  if (kept.size() > most) {
    const std::size_t whole = kept.size();
    std::size_t end = most;
    const bool is_text = is_valid_utf8(kept);
    while (is_text && end > 0 && (static_cast<unsigned char>(kept[end]) & 0xC0U) == 0x80U) --end;
    kept = fmt::format("{}[+{} bytes]", kept.substr(0, end), whole - end);
  }
  left_ -= std::min(left_, kept.size());
  return json_text(kept);
}

}  // namespace sallyport::audit
