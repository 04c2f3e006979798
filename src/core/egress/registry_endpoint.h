// The place in a jail's network where the tool reaches a registry with the operator's credentials: which requests are
// allowed, and how the owner rewrites them before it sends them on. No sockets here.
//
// The tool speaks plain HTTP to the registry's own name. The owner adds the credentials, speaks TLS to the registry when its URL
// says https, and returns the answer through RegistryAnswer. One request per connection: no request can hide behind
// another.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/egress.h"

namespace sallyport {

struct RegistryEndpoint {
  std::string name{};      // normalised; its name in the jail, and the name that its certificate must have
  std::uint16_t port = 0;  // where the tool connects: 80 for https on its usual port, else the registry's own
  std::uint16_t registry_port = 0;
  bool tls = false;
  std::string path{};           // begins and ends with '/'; requests outside it are refused
  std::string authorization{};  // "Bearer …" or "Basic …"
  // What the tool must never read: the credentials and their parts.
  std::vector<std::string> secrets{};

  // The endpoint's URL as the tool writes it, and the registry's own URL.
  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::string registry_origin() const;
};

[[nodiscard]] RegistryEndpoint registry_endpoint(const RegistryCredentials& credentials);

struct RegistryRequest {
  std::string_view why{};  // not empty: refused
  std::string head{};      // the head to send instead
  bool is_head = false;    // no body follows its answer
};
// `head` has passed HttpRequests, and its Host is the endpoint's. Allows only GET and HEAD below the registry's path,
// and below its "-/" only what an install reads: not the operator's identity or tokens. Passes only a closed list of
// fields: a Range could fetch an echo of the credentials in pieces, another field could carry other credentials or
// another method.
[[nodiscard]] RegistryRequest registry_request(std::string_view head, const RegistryEndpoint& endpoint);

}  // namespace sallyport
