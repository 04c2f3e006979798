// Read before each source that is to compile on macOS. First what such a source may include, then an end to every name in it
// that only Linux has. Some headers of Linux are drawn in by libstdc++ itself (sched.h, sys/syscall.h): those of their names
// that matter are here instead.
#pragma once

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>
#include <vector>

// macOS has no such flag of send(2), so the other way must compile.
#undef MSG_NOSIGNAL

// Constants are macros to libc: without them, using one is an error as well.
#undef AT_EMPTY_PATH
#undef F_ADD_SEALS
#undef F_SETPIPE_SZ
#undef MSG_CMSG_CLOEXEC
#undef O_NOATIME
#undef O_PATH
#undef O_TMPFILE
#undef SOCK_CLOEXEC
#undef SOCK_NONBLOCK
#undef SOCK_SEQPACKET
#undef POSIX_SPAWN_SETSID

#pragma GCC poison AT_EMPTY_PATH F_ADD_SEALS F_SETPIPE_SZ MSG_CMSG_CLOEXEC O_NOATIME O_PATH O_TMPFILE SOCK_CLOEXEC
#pragma GCC poison SOCK_NONBLOCK SOCK_SEQPACKET P_PIDFD __rlimit_resource_t program_invocation_name
#pragma GCC poison accept4 clone close_range dup3 epoll_create1 eventfd execveat fexecve getdents64 getrandom gettid
#pragma GCC poison inotify_init1 memfd_create pidfd_open pipe2 ppoll prctl recvmmsg renameat2 sched_getaffinity sendfile
#pragma GCC poison sendmmsg setns setresuid signalfd splice statx syscall tee timerfd_create unshare vmsplice wait4
