/* The same deeds in other words. Each line that must be found says so; everything else must not be. */
#define RUN system                /* expect: c-process-macro */
#define RUN_IT(x) popen((x), "r") /* expect: c-process-macro */
#define SYSTEM_NAME "system"
struct table {
  int (*run)(const char*);
};
static struct table one = {.run = system};       /* expect: c-process-pointer */
static int (*many[])(const char*) = {0, system}; /* expect: c-process-pointer */
int run(const char* command) {
  int (*later)(const char*);
  later = system;                              /* expect: c-process-pointer */
  call_with(system, command);                  /* expect: c-process-pointer */
  void* found = dlsym(RTLD_DEFAULT, "execve"); /* expect: c-dlsym */
  void* other = dlsym(RTLD_DEFAULT, "puts");
  (system)(command);            /* expect: c-process */
  (*system)(command);           /* expect: c-process */
  syscall(59, "/bin/ls", 0, 0); /* expect: c-raw-syscall */
  syscall(39);
  clone(child, stack, CLONE_VM | SIGCHLD, 0); /* expect: c-process */
  forkpty(0, 0, 0, 0);                        /* expect: c-process */
  list->system = 1;
  return list->system + other_clone(1);
}
int named(int system) {
  later = popen; /* expect: c-process-pointer */
  return half(system);
}
