// What the egress refused in one run (docs/egress.md; the rules: docs/contract.md, C24). These are facts: reason_text()
// makes the words of JSON and of people (docs/json.md). Nothing here fails.
//
//   for (const Denial& denial : result.denials) std::puts((denial.host + ": " + reason_text(denial)).c_str());
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace sallyport {

// What an address is, by the IANA special-purpose registries. A rule can admit the kinds that are an AddressClass
// (sallyport/egress.h); no rule admits a name that leads to one of the others, but for kPublic.
enum class AddressKind : std::uint8_t {
  kPublic,
  kPrivate,
  kShared,
  kLoopback,
  kLinkLocal,
  kSiteLocal,
  kBenchmark,
  kDocumentation,
  kReserved,
  kMetadata,  // a cloud's metadata service, which gives credentials to any client
  kUnspecified,
  kMulticast,
  kBroadcast,
  kDiscard,
};
// "public", "private", "metadata", …; "unknown" for a value that a cast made.
[[nodiscard]] std::string_view name_of(AddressKind kind);

// Add where needed; the texts are in docs/json.md.
enum class DenialReason : std::uint8_t {
  kNoHostAllowed,  // the run may reach no host at all
  kHostNotAllowed,
  kPortNotAllowed,
  kAddressWithoutName,
  kNotTcp,
  kServerNameDiffers,
  kNoServerName,
  kEncryptedClientHello,
  kEarlyData,
  kNotTls,
  kAmbiguousTls,
  kNotHttp,
  kAmbiguousHttp,
  kHttpUpgrade,
  kHostHeaderDiffers,
  kSpecialAddress,  // Denial::address says of which kind; its text names that: "private address", "benchmark address", …
  kOwnAddress,
  kNameDoesNotResolve,
  kByteBudget,
  kClientTooSlow,
  kTooManyNames,
  kNotForCredentials,    // we refused to send the request with the operator's credentials
  kCredentialsInAnswer,  // the registry's answer would have shown them to the tool
  kMoreDenials,          // what did not fit any more
};
// "host not allowed", …. For kSpecialAddress "special address": see reason_text().
[[nodiscard]] std::string_view name_of(DenialReason reason);

// Denied connections or lookups, one for each different host, port and reason.
struct Denial {
  std::string host{};      // a name, or an IP address that no lookup gave; printable
  std::uint16_t port = 0;  // 0: the name was looked up, no connection was tried
  DenialReason reason = DenialReason::kHostNotAllowed;
  AddressKind address = AddressKind::kPublic;  // of kSpecialAddress: what the name led to
  std::uint64_t count = 1;
  std::chrono::system_clock::time_point time{};  // of the first
  std::string hint{};  // the rule that would allow it (Error::hint shows its syntax); empty if none would
};

// The reason in words, as `reason` in JSON.
[[nodiscard]] std::string reason_text(const Denial& denial);

}  // namespace sallyport
