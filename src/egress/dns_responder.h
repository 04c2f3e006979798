// Answers one DNS query by the rules. Nothing is ever asked of anybody: an allowed name has the address we make up for
// it, any other name does not exist.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/egress/dns_message.h"
#include "egress/run.h"

namespace sallyport {

// nullopt: not a query; there is nothing to say.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> answer_dns(EgressRun& run, std::span<const std::uint8_t> query);

}  // namespace sallyport
