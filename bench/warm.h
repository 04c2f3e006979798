// Asks a gate to keep jails built ahead, where this build's GateConfig can.
#pragma once

#include <cstddef>

namespace sallyport::bench {

template <class Config>
inline constexpr bool kCanKeepWarm = requires(Config config) { config.warm_jails; };

template <class Config>
void keep_warm(Config& config, std::size_t count) {
  if constexpr (kCanKeepWarm<Config>) config.warm_jails = count;
}

}  // namespace sallyport::bench
