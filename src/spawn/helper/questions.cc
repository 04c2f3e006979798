// Answers what a confined tool's seccomp program asks (core/seccomp/shared_host.h). We do what the tool asks or refuse
// it; the tool's own call never runs, so the tool gains nothing by swapping memory or files meanwhile (ADR 0075).
#include "spawn/helper/questions.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <linux/ioctl.h>

#include "spawn/freestanding/decimal.h"

namespace sallyport::spawn::helper {
namespace {

// A kernel may have a longer structure than our headers; all of it must be zero.
union Question {
  struct seccomp_notif about;
  char room[512];
};

long fulfil(const Run& run, int listener, const struct seccomp_notif& about) {
  if (about.data.arch != kOurArchitecture) return kNoSuchCall;
  if (about.data.nr == __NR_socket) return make_socket(run, listener, about);
  if (about.data.nr == __NR_connect) return connect_socket(run, listener, about);
  return change_metadata(run, listener, about);
}

}  // namespace

char* append_text(char* out, const char* text) {
  while (*text != '\0') *out++ = *text++;
  return out;
}

long open_of_tool(const Run& run, std::uint32_t pid, const char* name, int number, long flags) {
  char path[48];
  char* end = append_number(path, pid);
  *end++ = '/';
  end = append_text(end, name);
  if (number >= 0) end = append_number(end, static_cast<std::uint32_t>(number));
  *end = '\0';
  return sys(__NR_openat, long{run.proc_fd}, path, flags | O_CLOEXEC, 0L);
}

long copy_in(long memory, std::uint64_t from, char* to, std::size_t size) {
  constexpr std::uint64_t kPage = 4096;
  const std::uint64_t left = kPage - from % kPage;
  const std::size_t at_most = size < left ? size : static_cast<std::size_t>(left);
  const long got = sys(__NR_pread64, memory, to, static_cast<long>(at_most), static_cast<long>(from));
  return got <= 0 ? kBadAddress : got;
}

long copy_all_in(long memory, std::uint64_t from, char* to, std::size_t size) {
  std::size_t have = 0;
  while (have < size) {
    const long got = copy_in(memory, from + have, to + have, size - have);
    if (got < 0) return got;
    have += static_cast<std::size_t>(got);
  }
  return 0;
}

bool still_asks(int listener, std::uint64_t id) {
  return sys(__NR_ioctl, long{listener}, static_cast<long>(SECCOMP_IOCTL_NOTIF_ID_VALID), &id) >= 0;
}

void answer_question(const Run& run, int listener) {
  Question question = {};
  for (char& byte : question.room) byte = 0;
  // The asking process may have been killed already.
  if (sys(__NR_ioctl, long{listener}, static_cast<long>(SECCOMP_IOCTL_NOTIF_RECV), &question) < 0) return;
  const long done = fulfil(run, listener, question.about);
  if (done == kAnswered) return;
  struct seccomp_notif_resp answer = {};
  answer.id = question.about.id;
  answer.error = done < 0 ? static_cast<int>(done) : 0;
  sys(__NR_ioctl, long{listener}, static_cast<long>(SECCOMP_IOCTL_NOTIF_SEND), &answer);
}

}  // namespace sallyport::spawn::helper
