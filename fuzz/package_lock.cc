// Any bytes as a stranger's lock file, package.json, and what npm prints about versions and signatures.
#include <cstddef>
#include <cstdint>

#include "fuzz/require.h"
#include "jobs/report/text.h"
#include "jobs/validate/integrity.h"
#include "jobs/validate/lock_findings.h"
#include "jobs/validate/lockfile.h"
#include "jobs/validate/min_age.h"
#include "jobs/validate/signatures.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sallyport::jobs;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto manifest = parse_manifest(bytes);
  require(manifest || !manifest.error().empty());
  const auto lock = parse_lockfile(bytes);
  require(lock || !lock.error().empty());
  static_cast<void>(parse_times(bytes));
  static_cast<void>(parse_signatures(bytes));
  static_cast<void>(web_place(bytes));
  static_cast<void>(source_of(bytes));
  if (const auto digest = sha512_of(bytes)) require(digest->size() == 128);
  if (!lock) return 0;
  const Manifest wanted = manifest ? *manifest : Manifest{};
  for (const Finding& finding : check_lock({.lock = &*lock,
                                            .manifest = &wanted,
                                            .lock_path = "package-lock.json",
                                            .lock_text = bytes,
                                            .registry = {.is_https = true, .host = "registry.test", .port = 443}})) {
    require(!finding.message.empty() && is_utf8(finding.message));
  }
  for (const LockedPackage& package : lock->packages) {
    if (const auto digest = sha512_of(package.integrity)) require(content_path(*digest).size() == 148);
  }
  return 0;
}
