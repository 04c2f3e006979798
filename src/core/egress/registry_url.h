// From a registry's URL to the rule that lets one reach it.
#pragma once

#include <string_view>

#include "sallyport/egress.h"

namespace sallyport {

// https and http, with or without a port; the rule may be private. Anything without a name of its own (an IP address,
// localhost) is InvalidRequest with a hint.
[[nodiscard]] Result<HostRule> registry_host_rule(std::string_view url);

struct RegistryPlace {
  std::string name{};  // normalised
  std::uint16_t port = 0;
  bool tls = false;
  std::string path{};  // begins and ends with '/'
};
// The same URLs.
[[nodiscard]] Result<RegistryPlace> registry_place(std::string_view url);

}  // namespace sallyport
