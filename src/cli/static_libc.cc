// c-ares asks the C library about names of services ("https" for 443). In a static program glibc would load shared libraries
// for the answer, and the linker warns of it. We only ever give port numbers, so there is nothing to ask: the answer is "no
// such service", and glibc's own functions are not linked at all.
#include <netdb.h>

#include <cerrno>
#include <cstddef>

extern "C" {

servent* getservbyname(const char* /*name*/, const char* /*protocol*/) { return nullptr; }

int getservbyport_r(int /*port*/, const char* /*protocol*/, servent* /*entry*/, char* /*buffer*/, std::size_t /*size*/,
                    servent** result) {
  *result = nullptr;
  return ENOENT;
}
}
