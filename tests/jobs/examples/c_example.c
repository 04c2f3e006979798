/* Each line that must be found says so; everything else must not be. */
#include <stdlib.h>
int run(const char* command) {
  if (fork() == 0) execv("/bin/ls", 0); /* expect: c-process */
  pid_t pid = vfork();                  /* expect: c-process */
  FILE* out = popen(command, "r");      /* expect: c-process */
  posix_spawnp(&pid, "ls", 0, 0, 0, 0); /* expect: c-process */
  syscall(SYS_execve, "/bin/ls", 0, 0); /* expect: c-raw-syscall */
  syscall(SYS_getpid);
  int (*later)(const char*) = system; /* expect: c-process-pointer */
  call_with(&system);                 /* expect: c-process-pointer */
  const char* text = "system(\"ls\")";
  return system(command); /* expect: c-process */
}
int file_system(int x) { return file_system(x) + executor(x); }
