// A registry's answer on its way to a tool that must not learn the credentials it was asked with. No sockets here.
//
// The head is made anew from a closed list of fields, without any that holds a secret; a body that holds one is not passed on from
// there, in any of the spellings that SecretSearch knows. A chunked body is unpacked, so that no secret is cut by a chunk's edge. Nothing is followed: a redirect goes to the tool,
// and where it leads back to the registry it names the endpoint instead.
//
// Holds at most a head (64 KiB) or the last bytes of a body that could begin a secret.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/egress/registry_endpoint.h"
#include "core/egress/secret_search.h"

namespace sallyport {

class RegistryAnswer {
 public:
  enum class State {
    kMore,
    kDone,    // all of it is in `out`, now or before
    kBroken,  // why(); what went out before is not all of it
    kSecret,  // the rest holds one of endpoint.secrets
  };

  // `endpoint` must outlive this object. `to_head`: the answer to a HEAD has no body.
  RegistryAnswer(const RegistryEndpoint& endpoint, bool to_head)
      : endpoint_(endpoint), secrets_(endpoint.secrets), to_head_(to_head) {}

  // The registry's bytes in order; what the tool may have is appended to `out`.
  [[nodiscard]] State feed(std::string_view bytes, std::string& out);
  // The registry has closed the connection.
  [[nodiscard]] State end(std::string& out);
  // Nothing has gone out yet: the tool can still be told something else.
  [[nodiscard]] bool untouched() const { return body_ == Body::kHead; }
  [[nodiscard]] std::string_view why() const { return why_; }

 private:
  enum class Body { kHead, kNone, kLength, kChunked, kToEnd };
  enum class Chunk { kSize, kData, kDataEnd, kTrailers };

  State broken(std::string_view why);
  State feed_head(std::string_view& bytes, std::string& out);
  State read_head(std::string& out);
  [[nodiscard]] std::string_view read_field(std::string_view line, std::string& kept);
  [[nodiscard]] std::string_view settle_body(int status);
  State feed_length(std::string_view bytes, std::string& out);
  State feed_chunked(std::string_view bytes, std::string& out);
  State end_of_chunk_line(std::string& out);
  State pass(std::string_view bytes, std::string& out);
  State finish(std::string& out);

  const RegistryEndpoint& endpoint_;
  const SecretSearch secrets_;
  const bool to_head_;
  Body body_ = Body::kHead;
  std::string head_{};
  std::optional<std::uint64_t> length_{};
  bool chunked_ = false;
  std::uint64_t remaining_ = 0;
  Chunk chunk_ = Chunk::kSize;
  std::string line_{};
  std::size_t trailers_ = 0;
  std::string held_{};
  std::string_view why_{};
};

}  // namespace sallyport
