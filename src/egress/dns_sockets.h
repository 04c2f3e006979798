// c-ares marks its sockets CLOEXEC a moment too late: if another thread of this process forks in between, a socket
// would leak.
#pragma once

struct ares_channeldata;

namespace sallyport {

void use_cloexec_sockets(ares_channeldata* channel);

}  // namespace sallyport
