// Between clone and exec: the locks of a tool that stays in the host's namespaces.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/socket.h>

#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {

long enter_ruleset(const Run& run) { return sys(__NR_landlock_restrict_self, long{run.fds[wire::kFdRuleset]}, 0L); }

long ask_by_seccomp(const Run& run) {
  const struct sock_fprog program = {static_cast<unsigned short>(run.image->seccomp_count),
                                     reinterpret_cast<struct sock_filter*>(run.at(run.image->seccomp_at))};
  const long listener = sys(__NR_seccomp, long{SECCOMP_SET_MODE_FILTER},
                            // A signal that the tool handles does not cancel what we already do for it.
                            long{SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV}, &program);
  if (listener < 0) return listener;
  char nothing = 0;
  struct iovec part = {&nothing, 1};
  alignas(cmsghdr) char passed[CMSG_SPACE(sizeof(int))] = {};
  struct msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = passed;
  message.msg_controllen = sizeof passed;
  auto* header = reinterpret_cast<cmsghdr*>(passed);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  *reinterpret_cast<int*>(CMSG_DATA(header)) = static_cast<int>(listener);
  return sys(__NR_sendmsg, long{run.answers_fd}, &message, long{MSG_NOSIGNAL});
}

}  // namespace sallyport::spawn::helper
