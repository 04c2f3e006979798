// Must not compile behind tests/posix/poison, although its header is POSIX's.
int make(int* ends) { return pipe2(ends, O_CLOEXEC); }
