// A process 1 for a microVM that misbehaves as its name says: bad_init_panics, bad_init_hangs, bad_init_shouts. Static, and without any
// of ours.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

int main() {
  const std::string_view what = SALLYPORT_BAD_INIT;
  if (what == "hangs") {
    for (;;) pause();
  }
  if (what == "shouts") {
    mkdir("/dev", 0755);
    mount("devtmpfs", "/dev", "devtmpfs", 0, "");
    const int console = open("/dev/console", O_WRONLY | O_CLOEXEC);
    // More than its console may hold on the host.
    for (int i = 0; i < 20'000; ++i) {
      constexpr std::string_view kLine = "a guest that writes to its console without end\n";
      if (write(console, kLine.data(), kLine.size()) < 0) break;
    }
  }
  return 1;  // the kernel panics without a process 1
}
