// Children of a unit test. The test objects in src/ may not refer to fork (C1's check reads all of them), so it is here.
#pragma once

#include <sys/types.h>

#include <functional>

namespace sallyport::test {

// A child that exits with what `body` returns. The caller waits for it.
[[nodiscard]] pid_t fork_child(const std::function<int()>& body);
// Reaps it; the raw wait status, -1 when there was nothing to reap.
int wait_for(pid_t child);

// Executes the open program with the single argument `name`, an empty environment; its exit code, -1 for a signal.
[[nodiscard]] int run_descriptor(int program, const char* name);

// What `question` answers for a plain user, whom permissions stop: in a child that gave up root, or right here when this process
// is a plain user's already.
[[nodiscard]] bool ask_as_plain_user(const std::function<bool()>& question);
// Makes a file or directory that user's own when we are root, so that only its mode stands in the way.
void give_to_plain_user(const char* path);

}  // namespace sallyport::test
