// The same deeds in other words. Each line that must be found says so; everything else must not be.
#include <cstdlib>
void start(const char* command) {
  auto later = std::system;                       // expect: c-process-pointer
  std::function<int(const char*)> f = &::system;  // expect: c-process-pointer
  std ::system(command);                          // expect: c-process
  std::invoke(execvp, "ls", nullptr);             // expect: c-process-pointer
  host.system(command);
  int clone = shape.clone();
}
