#include "core/egress/connect_answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/egress/http_text.h"

namespace sallyport {
namespace {

constexpr std::string_view kConnectAnswerStart = "HTTP/1.";
constexpr std::string_view kConnectAnswerEnd = "\r\n\r\n";

ConnectAnswer refused_answer(std::string why) { return {.kind = ConnectAnswer::Kind::kRefused, .why = std::move(why)}; }

}  // namespace

ConnectAnswer parse_connect_answer(std::string_view bytes) {
  bytes = bytes.substr(0, kLargestConnectAnswer);
  const std::size_t length = std::min(bytes.size(), kConnectAnswerStart.size());
  if (bytes.substr(0, length) != kConnectAnswerStart.substr(0, length)) {
    return refused_answer("the proxy does not answer in HTTP");
  }
  const std::size_t end = bytes.find(kConnectAnswerEnd);
  if (end == std::string_view::npos) {
    return bytes.size() < kLargestConnectAnswer ? ConnectAnswer() : refused_answer("the proxy's answer is too long");
  }
  const int status = status_in(take_line(bytes));
  if (status == 0) return refused_answer("the proxy does not answer in HTTP");
  if (status == 407) return refused_answer("the proxy wants a user and a password (407)");
  if (status < 200 || status > 299) return refused_answer(fmt::format("the proxy refuses it ({})", status));
  return {.kind = ConnectAnswer::Kind::kOpen, .size = end + kConnectAnswerEnd.size()};
}

}  // namespace sallyport
