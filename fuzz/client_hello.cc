// Any first bytes of a connection (C24): the verdict on all of them is the verdict on every part that is enough for one.
// The input's first byte says which part to test.
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/egress/client_hello.h"
#include "core/egress/host_name.h"
#include "core/egress/tls_opening.h"
#include "fuzz/require.h"

namespace {

using sallyport::ClientHelloVerdict;
using sallyport::ClientRecord;
using Kind = ClientHelloVerdict::Kind;

void check_verdict(const ClientHelloVerdict& verdict, std::size_t size) {
  require((verdict.kind == Kind::kMalformed) == !verdict.why.empty());
  require(verdict.size <= size);
  require((verdict.kind == Kind::kHello) == (verdict.size != 0));
  require(verdict.kind != Kind::kHello || verdict.has_server_name == !verdict.server_name.empty());
}

void check_same(const ClientHelloVerdict& whole, const ClientHelloVerdict& part) {
  if (part.kind == Kind::kNeedMore || part.kind == Kind::kUnsure) return;
  require(part.kind == whole.kind);
  require(part.why == whole.why);
  require(part.server_name == whole.server_name);
  require(part.encrypted_client_hello == whole.encrypted_client_hello);
  require(part.size == whole.size);
}

void check_after(std::span<const std::uint8_t> bytes, std::span<const std::uint8_t> part, bool chosen) {
  const ClientRecord whole = sallyport::parse_after_client_hello(bytes, chosen);
  require((whole.kind == ClientRecord::Kind::kRefused) == !whole.why.empty());
  const bool sized = whole.kind == ClientRecord::Kind::kHello || whole.kind == ClientRecord::Kind::kAside;
  require(whole.size <= bytes.size() && sized == (whole.size != 0));
  require(chosen || whole.kind != ClientRecord::Kind::kSettled);
  const ClientRecord some = sallyport::parse_after_client_hello(part, chosen);
  if (some.kind == ClientRecord::Kind::kNeedMore) return;
  // Of two reasons for a refusal the one that shows first is given.
  require(some.kind == whole.kind && some.size == whole.size);
}

void check_watch(std::span<const std::uint8_t> bytes, std::size_t cut) {
  sallyport::ServerHelloWatch whole;
  sallyport::ServerHelloWatch pieces;
  whole.feed(bytes);
  pieces.feed(bytes.first(cut));
  pieces.feed(bytes.subspan(cut));
  require(whole.chosen() == pieces.chosen() && whole.done() == pieces.done());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::uint8_t> bytes(data + 1, size - 1);
  const std::span<const std::uint8_t> part = bytes.first(bytes.size() * data[0] / 256);
  const ClientHelloVerdict whole = sallyport::parse_client_hello(bytes);
  check_verdict(whole, bytes.size());
  check_same(whole, sallyport::parse_client_hello(part));
  if (whole.kind == Kind::kHello) {
    check_same(whole, sallyport::parse_client_hello(bytes.first(whole.size)));
    (void)sallyport::normalise_host_name(whole.server_name);
  }
  for (const bool chosen : {false, true}) check_after(bytes, part, chosen);
  check_watch(bytes, part.size());
  return 0;
}
