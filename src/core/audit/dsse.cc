#include "core/audit/dsse.h"

#include <fmt/format.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/bytes/base64.h"
#include "core/bytes/ed25519.h"
#include "core/errors.h"
#include "core/json/json.h"

namespace sallyport::audit {
namespace {

constexpr std::size_t kMostSignatures = 64;

Error bad_envelope(std::string_view why) {
  return invalid_request("attestation", why, "a DSSE envelope is an object with payload, payloadType and signatures");
}

std::optional<std::string> text_member(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

}  // namespace

std::string pre_authentication_encoding(std::string_view type, std::string_view body) {
  return fmt::format("DSSEv1 {} {} {} {}", type.size(), type, body.size(), body);
}

Result<std::string> dsse_envelope(std::string_view type, std::string_view payload, const NoteKey& key) {
  const std::optional<std::string> signature = ed25519_sign(key.seed, pre_authentication_encoding(type, payload));
  if (!signature) return fail(system_error("sign", "the statement", EINVAL, "sign with a private key"));
  const Json envelope = {{"payloadType", type},
                         {"payload", base64(payload)},
                         {"signatures", Json::array({{{"keyid", public_key_text(key)}, {"sig", base64(*signature)}}})}};
  return json_dump(envelope);
}

Result<VerifiedPayload> open_envelope(std::string_view envelope, const NoteKey& key) {
  const Json json = Json::parse(envelope, nullptr, false);
  if (!json.is_object()) return fail(bad_envelope("it is no JSON object"));
  const std::optional<std::string> type = text_member(json, "payloadType");
  const std::optional<std::string> encoded = text_member(json, "payload");
  const auto signatures = json.find("signatures");
  if (!type || !encoded || signatures == json.end() || !signatures->is_array()) {
    return fail(bad_envelope("a member is missing"));
  }
  if (signatures->size() > kMostSignatures) return fail(bad_envelope("it has too many signatures"));
  std::optional<std::string> payload = from_base64(*encoded);
  if (!payload) return fail(bad_envelope("its payload is not base64"));
  const std::string signed_bytes = pre_authentication_encoding(*type, *payload);
  for (const Json& entry : *signatures) {
    if (!entry.is_object()) continue;
    const std::optional<std::string> text = text_member(entry, "sig");
    const std::optional<std::string> signature = text ? from_base64(*text) : std::nullopt;
    if (signature && ed25519_verify(key.public_key, signed_bytes, *signature)) {
      return VerifiedPayload{.type = *type, .payload = *std::move(payload)};
    }
  }
  return fail(bad_envelope(fmt::format("it is not signed by {}", key.name)));
}

}  // namespace sallyport::audit
