// What can be asked of a process before libc is ready, for those who may not make system calls themselves.
#pragma once

namespace sallyport::spawn {

// Its standard streams are open, so that no descriptor of ours lands in their place; and it runs as whoever started it,
// not set-uid.
[[nodiscard]] bool is_usual_process();

// The size of a regular file that is shorter than `room`, and its content in `into`; else negative.
[[nodiscard]] long read_short_file(const char* path, char* into, long room);

// A starter that ignores the deaths of its children leaves that to us: the kernel would bury ours, and how they ended
// could not be asked.
void keep_dead_children();

}  // namespace sallyport::spawn
