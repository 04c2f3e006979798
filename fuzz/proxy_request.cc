// What a jailed client says to the proxy on loopback, and what the run's name server answers it with. The input up to its first NUL
// is the request's head, the rest the answer.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "spawn/posix/connect_request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace posix = sallyport::spawn::posix;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string_view head = bytes.substr(0, bytes.find('\0'));
  const posix::ConnectRequest request = posix::parse_connect(head, "c2VjcmV0");
  require(request.refusal.empty() == (request.port != 0));
  // The positive control is in the corpus; without the credentials nothing is connected.
  if (request.refusal.empty()) require(head.find("c2VjcmV0") != std::string_view::npos && !request.host.empty());
  const std::string question = posix::dns_question(request.host);
  if (question.empty()) return 0;
  const std::string_view answer = bytes.substr(std::min(bytes.size(), head.size() + 1));
  const std::optional<std::string> address = posix::address_in(answer, question);
  require(!address || address->size() == 4);
  return 0;
}
