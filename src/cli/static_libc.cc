// What libraries that are linked into the static program would ask the C library for, and never do here. In a static program glibc
// would load shared libraries for the answer, and the linker warns of it. With an answer of "no" of our own, glibc's functions are not
// linked at all.
//
//   c-ares    names of services ("https" for 443): we only ever give port numbers
//   OpenSSL   addresses of names (its own connections, which we do not use) and modules to load (engines, providers: nobody configures
//             any, since no configuration is read)
#include <dlfcn.h>
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

int getaddrinfo(const char* /*name*/, const char* /*service*/, const addrinfo* /*hints*/, addrinfo** result) {
  *result = nullptr;
  return EAI_NONAME;
}

void freeaddrinfo(addrinfo* /*list*/) {}

hostent* gethostbyname(const char* /*name*/) { return nullptr; }

void* dlopen(const char* /*file*/, int /*mode*/) { return nullptr; }
void* dlsym(void* /*handle*/, const char* /*symbol*/) { return nullptr; }
int dlclose(void* /*handle*/) { return 0; }
int dladdr(const void* /*address*/, Dl_info* /*info*/) { return 0; }
char* dlerror() {
  static char none[] = "nothing is loaded into this program";
  return none;
}
}
