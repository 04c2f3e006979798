#include "sallyport/denial.h"

#include <fmt/format.h>

namespace sallyport {

std::string_view name_of(DenialReason reason) {
  switch (reason) {
    case DenialReason::kNoHostAllowed:
      return "no host is allowed";
    case DenialReason::kHostNotAllowed:
      return "host not allowed";
    case DenialReason::kPortNotAllowed:
      return "port not allowed";
    case DenialReason::kAddressWithoutName:
      return "address without a name";
    case DenialReason::kNotTcp:
      return "not tcp";
    case DenialReason::kServerNameDiffers:
      return "server name differs";
    case DenialReason::kNoServerName:
      return "no server name";
    case DenialReason::kEncryptedClientHello:
      return "encrypted client hello";
    case DenialReason::kEarlyData:
      return "early data";
    case DenialReason::kNotTls:
      return "not tls";
    case DenialReason::kAmbiguousTls:
      return "ambiguous tls handshake";
    case DenialReason::kNotHttp:
      return "not http";
    case DenialReason::kAmbiguousHttp:
      return "ambiguous http request";
    case DenialReason::kHttpUpgrade:
      return "http upgrade";
    case DenialReason::kHostHeaderDiffers:
      return "host header differs";
    case DenialReason::kSpecialAddress:
      return "special address";
    case DenialReason::kOwnAddress:
      return "address of this host";
    case DenialReason::kNameDoesNotResolve:
      return "name does not resolve";
    case DenialReason::kByteBudget:
      return "byte budget";
    case DenialReason::kClientTooSlow:
      return "client too slow";
    case DenialReason::kTooManyNames:
      return "too many names";
    case DenialReason::kNotForCredentials:
      return "not for credentials";
    case DenialReason::kCredentialsInAnswer:
      return "credentials in the answer";
    case DenialReason::kMoreDenials:
      return "more denials";
  }
  return "more denials";
}

std::string reason_text(const Denial& denial) {
  const bool has_kind = denial.reason == DenialReason::kSpecialAddress && denial.address != AddressKind::kPublic;
  return has_kind ? fmt::format("{} address", name_of(denial.address)) : std::string(name_of(denial.reason));
}

}  // namespace sallyport
