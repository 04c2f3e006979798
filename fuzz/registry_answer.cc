// Any answer of a registry that was asked with the operator's credentials: they never come out of it, and how it is cut decides
// nothing. The input's first byte is the size of the pieces; its lowest bit says whether HEAD was asked.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/egress/registry_answer.h"
#include "fuzz/require.h"

namespace {

using sallyport::RegistryAnswer;
using State = RegistryAnswer::State;

const sallyport::RegistryEndpoint& endpoint() {
  static const sallyport::RegistryEndpoint made = sallyport::registry_endpoint(
      sallyport::RegistryCredentials::of("https://registry.test/npm/", "Bearer secret+8").value());
  return made;
}

struct Seen {
  State state{};
  std::string out{};
  std::string_view why{};
};

Seen feed_all(std::string_view bytes, std::size_t piece, bool to_head) {
  RegistryAnswer answer(endpoint(), to_head);
  Seen seen;
  while (!bytes.empty()) {
    const bool was_untouched = answer.untouched();
    const std::size_t before = seen.out.size();
    seen.state = answer.feed(bytes.substr(0, piece), seen.out);
    seen.why = answer.why();
    if (was_untouched && answer.untouched()) require(seen.out.size() == before);
    if (seen.state != State::kMore) return seen;
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  seen.state = answer.end(seen.out);
  seen.why = answer.why();
  require(seen.state != State::kMore);
  return seen;
}

void check(const Seen& seen, bool to_head) {
  require((seen.state == State::kBroken) == !seen.why.empty());
  for (const std::string& secret : endpoint().secrets) require(seen.out.find(secret) == std::string::npos);
  if (seen.out.empty()) return;
  require(seen.out.starts_with("HTTP/1.1 "));
  const std::size_t end = seen.out.find("\r\n\r\n");
  require(end != std::string::npos);
  const std::string_view head = std::string_view(seen.out).substr(0, end + 2);
  // Nothing of the answer can begin a line of its own: every CR stands before its LF.
  for (std::size_t at = 0; at < head.size(); ++at) {
    require((head[at] == '\r') == (at + 1 < head.size() && head[at + 1] == '\n'));
  }
  for (const char* never : {"\r\nSet-Cookie:", "\r\nset-cookie:", "\r\nTransfer-Encoding:", "\r\nContent-Encoding:"}) {
    require(head.find(never) == std::string_view::npos);
  }
  if (to_head) require(seen.out.size() == end + 4);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const bool to_head = (data[0] & 1) != 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const Seen whole = feed_all(bytes, bytes.size(), to_head);
  const Seen pieces = feed_all(bytes, data[0] / 2 + std::size_t{1}, to_head);
  check(whole, to_head);
  check(pieces, to_head);
  require(whole.state == pieces.state && whole.why == pieces.why);
  // What comes before a broken place or a secret may be held back; it is never something else.
  require(pieces.out.starts_with(whole.out) || whole.out.starts_with(pieces.out));
  if (whole.state == State::kDone) require(whole.out == pieces.out);
  return 0;
}
