// Any bytes a child may write, in every place of a record that can hold them: the text is valid JSON in valid UTF-8, and
// the bytes can be had back.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/bytes/base64.h"
#include "core/json/json.h"
#include "core/text/utf8.h"
#include "fuzz/require.h"

namespace {

using sallyport::Json;

void check_text(std::string_view bytes) {
  const Json value = Json::parse(sallyport::json_dump(sallyport::json_text(bytes)), nullptr, false);
  if (sallyport::is_valid_utf8(bytes)) {
    require(value.is_string() && value.get_ref<const std::string&>() == bytes);
  } else {
    require(value.is_object() && value.at("base64").get_ref<const std::string&>() == sallyport::base64(bytes));
  }
}

void check_record(const Json& record) {
  for (const auto style : {sallyport::JsonStyle::kCompact, sallyport::JsonStyle::kIndented}) {
    const std::string text = sallyport::json_dump(record, style);
    require(sallyport::is_valid_utf8(text));
    const Json parsed = Json::parse(text, nullptr, false);
    require(!parsed.is_discarded() && parsed.contains("schema"));
  }
}

sallyport::JailedSubprocessResult result_with(std::string_view bytes) {
  const std::size_t middle = bytes.size() / 2;
  sallyport::JailedSubprocessResult result;
  result.stdout_stream.bytes = bytes.substr(0, middle);
  result.stderr_stream.bytes = bytes.substr(middle);
  result.receipt.binary = sallyport::BinaryIdentity{.path = std::string(bytes)};
  result.denials.push_back({.host = std::string(bytes)});
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_text(bytes);
  check_record(sallyport::run_record(result_with(bytes)));
  check_record(sallyport::error_record({.detail = sallyport::DisallowedSubprocessError{.tool = std::string(bytes)},
                                        .message = std::string(bytes),
                                        .hint = std::string(bytes)}));
  return 0;
}
