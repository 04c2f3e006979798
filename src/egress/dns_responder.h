// Answers one DNS query by the rules. It asks no other server: an allowed name gets a synthetic address, any other name
// does not exist.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/egress/dns_message.h"
#include "egress/run.h"

namespace sallyport {

// nullopt: not a query, so no answer.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> answer_dns(EgressRun& run, std::span<const std::uint8_t> query);

}  // namespace sallyport
