// Must not compile behind tests/posix/poison: the positive control of "compiles without any header of Linux".
#include <sys/epoll.h>
