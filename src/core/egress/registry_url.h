// Makes the rule that allows a registry from the registry's URL.
#pragma once

#include <string_view>

#include "sallyport/egress.h"

namespace sallyport {

// https and http, with or without a port; the rule may be private. A URL without a host name of its own (an IP address,
// localhost) gives InvalidRequest with a hint.
[[nodiscard]] Result<HostRule> registry_host_rule(std::string_view url);

struct RegistryPlace {
  std::string name{};  // normalised
  std::uint16_t port = 0;
  bool tls = false;
  std::string path{};  // begins and ends with '/'
};
// Accepts the same URLs.
[[nodiscard]] Result<RegistryPlace> registry_place(std::string_view url);

}  // namespace sallyport
