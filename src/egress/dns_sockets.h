// c-ares marks its sockets CLOEXEC a moment too late: a thread of our owner that forks in between would leak one.
#pragma once

struct ares_channeldata;

namespace sallyport {

void use_cloexec_sockets(ares_channeldata* channel);

}  // namespace sallyport
