#include "gate/ca_bundle.h"

#include <fmt/format.h>

#include <array>

#include "core/errors.h"
#include "os/file.h"

namespace sallyport {
namespace {

// Debian's bundle has 220 KiB; the jail's root has room for 4 MiB in all.
constexpr ByteCount kLargestBundle{1024 * 1024};
constexpr std::string_view kCertificate = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view kSecret = "PRIVATE KEY-----";

// Debian, Fedora, openSUSE, Alpine.
constexpr auto kSystemBundles =
    std::to_array<const char*>({"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"});

// Ends with a newline; empty when the system has no bundle.
std::string system_bundle() {
  std::string bundle;
  for (const char* const path : kSystemBundles) {
    const Result<std::string> systems = read_whole_file(path, kLargestBundle);
    if (!systems) continue;
    bundle = *systems;
    break;
  }
  if (!bundle.empty() && !bundle.ends_with('\n')) bundle += '\n';
  return bundle;
}

}  // namespace

Result<std::string> trusted_certificates(const std::optional<std::filesystem::path>& extra) {
  if (extra) return read_ca_bundle(*extra);
  return system_bundle();
}

Result<std::string> read_ca_bundle(const std::filesystem::path& extra) {
  const std::string own = TRY(read_named_file(extra, kLargestBundle));
  if (own.find(kSecret) != std::string::npos) {
    return fail(invalid_request("extra_ca", fmt::format("{} holds a private key", extra.native()),
                                "the tool would read it; give a file of certificates alone"));
  }
  if (own.find(kCertificate) == std::string::npos) {
    return fail(invalid_request("extra_ca", fmt::format("{} holds no certificate in PEM", extra.native()),
                                "a line -----BEGIN CERTIFICATE----- begins one; openssl x509 -inform DER converts"));
  }
  return system_bundle() + own;
}

}  // namespace sallyport
