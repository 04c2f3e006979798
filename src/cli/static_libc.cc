// What libraries that are linked into the static program would ask the C library for, and never do here. In a static program glibc
// would load shared libraries for the answer, and the linker warns of it. With an answer of "no" of our own, glibc's functions are not
// linked at all.
//
//   c-ares    names of services ("https" for 443): we only ever give port numbers
//   OpenSSL   addresses of names (its own connections, which we do not use) and modules to load (engines, providers: nobody configures
//             any, since no configuration is read)
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

int getnameinfo(const sockaddr* /*address*/, socklen_t /*address_size*/, char* /*host*/, socklen_t /*host_size*/,
                char* /*service*/, socklen_t /*service_size*/, int /*flags*/) {
  return EAI_FAMILY;
}

hostent* gethostbyname(const char* /*name*/) { return nullptr; }

// What the linker (--wrap) makes of dlopen: glibc's own is linked in any case, for character sets, and each use is warned of.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the linker chooses the name
void* __wrap_dlopen(const char* /*file*/, int /*mode*/) { return nullptr; }
}
