// Whatever a proxy says to a CONNECT: decided once, however it is cut. The input's first byte says which part came first.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/egress/connect_answer.h"
#include "fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  using sallyport::ConnectAnswer;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const ConnectAnswer whole = sallyport::parse_connect_answer(bytes);
  require((whole.kind == ConnectAnswer::Kind::kRefused) == !whole.why.empty());
  require((whole.kind == ConnectAnswer::Kind::kOpen) == (whole.size != 0));
  if (whole.kind == ConnectAnswer::Kind::kOpen) {
    require(whole.size <= bytes.size() && bytes.substr(0, whole.size).ends_with("\r\n\r\n"));
    require(bytes.find("\r\n\r\n") == whole.size - 4);  // no byte of the host's is taken for the proxy's
    require(bytes.starts_with("HTTP/1.") && bytes.substr(8, 2) == " 2");
  }
  const ConnectAnswer part = sallyport::parse_connect_answer(bytes.substr(0, bytes.size() * data[0] / 256));
  if (part.kind == ConnectAnswer::Kind::kNeedMore) return 0;
  require(part.kind == whole.kind && part.size == whole.size && part.why == whole.why);
  return 0;
}
