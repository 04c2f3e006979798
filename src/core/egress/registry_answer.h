// A registry's answer on its way to a tool that must not learn the credentials of the request. No sockets here.
//
// It makes a new head from a closed list of fields, without any that holds a secret. It stops passing on a body where a
// secret begins, in any spelling that SecretSearch knows. It unpacks a chunked body, so that no chunk boundary splits a
// secret. It follows no redirect: the tool gets it, and if it leads back to the registry, it names the endpoint
// instead.
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
    kDone,    // the whole answer has been appended to `out`
    kBroken,  // see why(); what went out before is incomplete
    kSecret,  // the rest holds one of endpoint.secrets
  };

  // `endpoint` must outlive this object. `to_head`: the answer to a HEAD has no body.
  RegistryAnswer(const RegistryEndpoint& endpoint, bool to_head)
      : endpoint_(endpoint), secrets_(endpoint.secrets), to_head_(to_head) {}

  // Takes the registry's bytes in order, and appends to `out` what the tool may have.
  [[nodiscard]] State feed(std::string_view bytes, std::string& out);
  // Call when the registry has closed the connection.
  [[nodiscard]] State end(std::string& out);
  // True when nothing has gone out yet: the tool can still get another answer.
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
