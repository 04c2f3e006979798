#include "os/memfd.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/errors.h"
#include "os/file.h"

namespace sallyport {
namespace {

// linux/memfd.h of Linux 6.3; Debian 12's headers are older.
constexpr unsigned kMfdNoexecSeal = 0x0008U;
constexpr int kSealExec = 0x0020;

}  // namespace

Result<UniqueFd> sealed_memfd(const std::string& name, std::string_view content) {
  int raw = ::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING | kMfdNoexecSeal);
  // Kernels before 6.3 do not know that flag; there the file is executable unless its mode says otherwise.
  if (raw < 0 && errno == EINVAL) raw = ::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (raw < 0) return fail(system_error("create", "an in-memory file", errno));
  UniqueFd fd(raw);
  // F_SEAL_EXEC allows a mode change that leaves the x bits alone, and refuses one that sets them.
  if (::fchmod(fd.get(), 0400) != 0) return fail(system_error("set the mode of", name, errno));
  TRY(write_all(fd.get(), content, name));
  if (::lseek(fd.get(), 0, SEEK_SET) != 0) return fail(system_error("rewind", name, errno));
  constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  if (::fcntl(fd.get(), F_ADD_SEALS, kSeals | kSealExec) == 0) return fd;
  if (errno == EINVAL && ::fcntl(fd.get(), F_ADD_SEALS, kSeals) == 0) return fd;
  return fail(system_error("seal", name, errno));
}

}  // namespace sallyport
