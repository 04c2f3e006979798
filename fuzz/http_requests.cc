// Any stream to an HTTP port (C24), whole and in pieces: the same hosts, the same bytes passed on, the same end. The
// input's first byte is the size of the pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/egress/http_guess.h"
#include "core/egress/http_requests.h"
#include "fuzz/require.h"

namespace {

using sallyport::HttpRequests;
using Kind = HttpRequests::Step::Kind;

struct Seen {
  std::string hosts{};
  std::string passed{};
  sallyport::HttpFault fault = sallyport::HttpFault::kNone;
  bool between = false;
  bool operator==(const Seen&) const = default;
};

void check_head(const HttpRequests& requests, const HttpRequests::Step& step) {
  require(!step.host.empty());
  require(step.host.find_first_of(std::string_view("\0\r\n\t ,/@%", 9)) == std::string::npos);
  require(requests.head().ends_with("\r\n\r\n"));
  require(requests.head().size() <= sallyport::kLargestHttpHead);
  require(requests.head().find("\r\n\r\n") == requests.head().size() - 4);
}

// Hands one piece over, and says whether the connection goes on.
bool feed(HttpRequests& requests, std::span<const std::uint8_t> piece, Seen& seen) {
  while (true) {
    const HttpRequests::Step step = requests.next(piece);
    require(step.consumed <= piece.size());
    require((step.kind == Kind::kRefused) == (step.fault != sallyport::HttpFault::kNone));
    if (step.kind == Kind::kRefused) {
      seen.fault = step.fault;
      return false;
    }
    if (step.kind == Kind::kHead) {
      check_head(requests, step);
      seen.hosts.append(step.host).append(":").append(std::to_string(step.port)).append("\n");
      seen.passed += requests.head();
    }
    if (step.kind == Kind::kBody) seen.passed.append(piece.begin(), piece.begin() + step.consumed);
    if (step.kind == Kind::kNeedMore) require(step.consumed == piece.size());
    piece = piece.subspan(step.consumed);
    if (step.consumed == 0) return true;
  }
}

Seen feed_all(std::span<const std::uint8_t> bytes, std::size_t piece) {
  HttpRequests requests;
  Seen seen;
  while (!bytes.empty() && feed(requests, bytes.first(std::min(piece, bytes.size())), seen)) {
    bytes = bytes.subspan(std::min(piece, bytes.size()));
  }
  seen.between = requests.between_requests();
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::span<const std::uint8_t> bytes(data + 1, size - 1);
  const Seen whole = feed_all(bytes, bytes.size());
  require(feed_all(bytes, data[0] + std::size_t{1}) == whole);
  // What is taken for a request must be judged as one, on whatever port it comes.
  const sallyport::HttpGuess guess = sallyport::looks_like_http(bytes);
  if (!whole.hosts.empty()) require(guess == sallyport::HttpGuess::kYes);
  sallyport::HttpGuesser piecewise;
  for (const std::uint8_t& byte : bytes) (void)piecewise.feed({&byte, 1});
  require(piecewise.feed({}) == guess);
  // Beginnings of lines that a server may read as a request: whatever blanks are put between their words.
  require(guess == sallyport::HttpGuess::kMaybe || piecewise.at_end() == guess);
  return 0;
}
