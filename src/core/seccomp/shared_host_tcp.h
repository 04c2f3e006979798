// The rules that differ, on top of shared_host.h, when hosts are allowed: the run's worker makes and connects TCP
// sockets, so that each leads only to the owner's egress (spawn/helper/sockets.cc).
#pragma once

#include <array>
#include <cerrno>

#include "core/seccomp/arguments.h"
#include "core/seccomp/rule.h"

namespace sallyport::seccomp {

// TCP alone. A UDP socket can send to any address by sendmsg, whose address is behind a pointer.
inline constexpr auto kTcpByWorker =
    std::to_array<Clause>({Clause(kAsk, equals(0, kInet), masked(1, kSocketType, kStream), equals(2, 0)),
                           Clause(kAsk, equals(0, kInet), masked(1, kSocketType, kStream), equals(2, kTcp)),
                           Clause(kAsk, equals(0, kInet6), masked(1, kSocketType, kStream), equals(2, 0)),
                           Clause(kAsk, equals(0, kInet6), masked(1, kSocketType, kStream), equals(2, kTcp)),
                           // Go tries MPTCP first and falls back to TCP.
                           Clause(EPROTONOSUPPORT, equals(0, kInet), masked(1, kSocketType, kStream)),
                           Clause(EPROTONOSUPPORT, equals(0, kInet6), masked(1, kSocketType, kStream))});

// TCP fast open connects while it sends, and Landlock does not check that.
inline constexpr std::uint32_t kFastOpen = 0x20000000;
template <unsigned kFlags>
inline constexpr auto kNoFastOpen = std::to_array<Clause>({Clause(kAllow, none_of(kFlags, kFastOpen))});

// Options that clients set. Not SO_BINDTODEVICE, IP_OPTIONS, TCP_FASTOPEN_CONNECT and similar, which change where bytes
// go or when a connection is made; not buffer sizes, because no limit counts the buffers of a socket that the worker
// made.
inline constexpr auto kClientOptions = std::to_array<Clause>({
    Clause(kAllow, equals(1, 1), equals(2, 2)),      // SOL_SOCKET: SO_REUSEADDR
    Clause(kAllow, equals(1, 1), equals(2, 9)),      // SO_KEEPALIVE
    Clause(kAllow, equals(1, 1), equals(2, 13)),     // SO_LINGER
    Clause(kAllow, equals(1, 1), equals(2, 20)),     // SO_RCVTIMEO
    Clause(kAllow, equals(1, 1), equals(2, 21)),     // SO_SNDTIMEO
    Clause(kAllow, equals(1, kTcp), equals(2, 1)),   // TCP_NODELAY
    Clause(kAllow, equals(1, kTcp), equals(2, 3)),   // TCP_CORK
    Clause(kAllow, equals(1, kTcp), equals(2, 4)),   // TCP_KEEPIDLE
    Clause(kAllow, equals(1, kTcp), equals(2, 5)),   // TCP_KEEPINTVL
    Clause(kAllow, equals(1, kTcp), equals(2, 6)),   // TCP_KEEPCNT
    Clause(kAllow, equals(1, kTcp), equals(2, 12)),  // TCP_QUICKACK
    Clause(kAllow, equals(1, kTcp), equals(2, 18)),  // TCP_USER_TIMEOUT
});

inline constexpr auto kTcpOnSharedHost = std::to_array<Rule>({
    {"socket", EAFNOSUPPORT, kTcpByWorker},
    {"connect", kAsk},
    // A socket that listens unbound gets a port on every interface.
    {"bind", EACCES},
    {"listen", EACCES},
    {"sendto", EOPNOTSUPP, kNoFastOpen<3>},
    {"sendmsg", EOPNOTSUPP, kNoFastOpen<2>},
    {"sendmmsg", EOPNOTSUPP, kNoFastOpen<3>},
    {"setsockopt", ENOPROTOOPT, kClientOptions},
});

}  // namespace sallyport::seccomp
