// DSSE 1.0.2 envelopes (Dead Simple Signing Envelope) with Ed25519. We verify an envelope before we parse its content;
// the keyid is a hint for people, and we never trust it.
#pragma once

#include <string>
#include <string_view>

#include "core/audit/signed_note.h"
#include "sallyport/result.h"

namespace sallyport::audit {

inline constexpr std::string_view kInTotoPayload = "application/vnd.in-toto+json";

// "DSSEv1 29 http://example.com/HelloWorld 11 hello world"
[[nodiscard]] std::string pre_authentication_encoding(std::string_view type, std::string_view body);

// One line of JSON. SystemError when libcrypto fails to sign.
[[nodiscard]] Result<std::string> dsse_envelope(std::string_view type, std::string_view payload, const NoteKey& key);

struct VerifiedPayload {
  std::string type{};
  std::string payload{};
};
// InvalidRequest("attestation") when the text is no envelope, or holds no signature by the key.
[[nodiscard]] Result<VerifiedPayload> open_envelope(std::string_view envelope, const NoteKey& key);

}  // namespace sallyport::audit
