#include "jobs/report/bounded_json.h"

#include <limits>

namespace sallyport::jobs {
namespace {

// Counts, stores nothing; any `false` ends the parse.
class Counter : public nlohmann::json_sax<InJson> {
 public:
  bool null() override { return one_more(); }
  bool boolean(bool /*value*/) override { return one_more(); }
  bool number_integer(number_integer_t /*value*/) override { return one_more(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return one_more(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return one_more(); }
  bool string(string_t& /*value*/) override { return one_more(); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*elements*/) override { return deeper(); }
  bool key(string_t& /*name*/) override { return true; }
  bool end_object() override { return shallower(); }
  bool start_array(std::size_t /*elements*/) override { return deeper(); }
  bool end_array() override { return shallower(); }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    if (why_.empty()) why_ = "no JSON, or cut off, at byte " + std::to_string(position);
    return false;
  }
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  bool one_more() {
    if (++values_ <= kMostValues) return true;
    why_ = "more than " + std::to_string(kMostValues) + " JSON values";
    return false;
  }
  bool deeper() {
    if (++depth_ <= kDeepestJson) return one_more();
    why_ = "JSON deeper than " + std::to_string(kDeepestJson);
    return false;
  }
  bool shallower() {
    --depth_;
    return true;
  }
  std::size_t values_ = 0;
  std::size_t depth_ = 0;
  std::string why_;
};

}  // namespace

std::expected<InJson, std::string> parse_bounded(std::string_view text) {
  Counter counter;
  if (!InJson::sax_parse(text, &counter)) return std::unexpected(counter.why());
  InJson value = InJson::parse(text, nullptr, false);
  if (value.is_discarded()) return std::unexpected(std::string("no JSON"));
  return value;
}

const InJson* member(const InJson& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

const InJson* array_member(const InJson& object, std::string_view name) {
  const InJson* const value = member(object, name);
  return value != nullptr && value->is_array() ? value : nullptr;
}

const std::string* string_member(const InJson& object, std::string_view name) {
  const InJson* const value = member(object, name);
  return value == nullptr ? nullptr : value->get_ptr<const std::string*>();
}

std::optional<std::uint32_t> number_member(const InJson& object, std::string_view name) {
  const InJson* const value = member(object, name);
  if (value == nullptr || !value->is_number_unsigned()) return std::nullopt;
  const auto number = *value->get_ptr<const InJson::number_unsigned_t*>();
  if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) return std::nullopt;
  return static_cast<std::uint32_t>(number);
}

}  // namespace sallyport::jobs
