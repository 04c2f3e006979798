// The place in a jail's network where a registry is reached with the operator's credentials: what a request must be like, and
// what is made of it before the owner sends it on. No sockets here.
//
// The tool speaks plain HTTP to the registry's own name. The owner adds the credentials, speaks TLS to the registry when its URL
// says https, and gives the answer back through RegistryAnswer. One request a connection: no request can hide behind another.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/egress.h"

namespace sallyport {

struct RegistryEndpoint {
  std::string name{};      // normalised; the jail's name for it, and the one that its certificate must be for
  std::uint16_t port = 0;  // where the tool connects: 80 for https on its usual port, else the registry's own
  std::uint16_t registry_port = 0;
  bool tls = false;
  std::string path{};           // begins and ends with '/'; nothing outside it is asked for
  std::string authorization{};  // "Bearer …" or "Basic …"
  // What the tool must never read: the credentials, and what they are made of.
  std::vector<std::string> secrets{};

  // As the tool writes it, and as the registry does.
  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::string registry_origin() const;
};

// Errors: InvalidRequest("registry"), InvalidRequest("registry_auth"); neither holds the credentials.
[[nodiscard]] Result<RegistryEndpoint> registry_endpoint(const RegistryCredentials& credentials);

struct RegistryRequest {
  std::string_view why{};  // not empty: refused
  std::string head{};      // to send instead
  bool is_head = false;    // no body follows its answer
};
// `head` is one that HttpRequests let through, its Host that of the endpoint. Only GET and HEAD below the registry's path, and of
// what lies below its "-/" only what an install reads: not who the operator is, nor the operator's tokens. Fields pass by a closed
// list: a Range could fetch an echo of the credentials in pieces, another field could carry other credentials or method.
[[nodiscard]] RegistryRequest registry_request(std::string_view head, const RegistryEndpoint& endpoint);

}  // namespace sallyport
