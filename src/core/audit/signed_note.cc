#include "core/audit/signed_note.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/bytes/base64.h"
#include "core/bytes/ed25519.h"
#include "core/errors.h"

namespace sallyport::audit {
namespace {

constexpr std::string_view kPrivatePrefix = "PRIVATE+KEY+";
constexpr std::string_view kSignatureMark = "\xE2\x80\x94 ";  // an em dash and a blank
constexpr char kEd25519Type = 1;
constexpr std::size_t kKeyIdBytes = 4;

Error bad_key(std::string_view why) {
  return invalid_request("key", why, "keys look like NAME+1a2b3c4d+BASE64; make a pair of keys for the log");
}

Error bad_checkpoint(std::string_view why) {
  return invalid_request("checkpoint", why, "a checkpoint is a signed note: origin, size, root, signatures");
}

std::string id_hex(const NoteKey& key) {
  std::string hex;
  for (const char c : key_id(key)) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

std::string text_of(const Checkpoint& checkpoint) {
  const std::string root(checkpoint.root.begin(), checkpoint.root.end());
  return fmt::format("{}\n{}\n{}\n", checkpoint.origin, checkpoint.size, base64(root));
}

// The next line of `rest`, without its newline.
std::optional<std::string_view> next_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return line;
}

Result<Checkpoint> parse_checkpoint(std::string_view text) {
  const std::optional<std::string_view> origin = next_line(text);
  const std::optional<std::string_view> size = next_line(text);
  const std::optional<std::string_view> root = next_line(text);
  if (!root || origin->empty()) return fail(bad_checkpoint("it has not three lines"));
  Checkpoint checkpoint{.origin = std::string(*origin)};
  const char* const end = size->data() + size->size();
  const auto [after, error] = std::from_chars(size->data(), end, checkpoint.size);
  if (error != std::errc{} || after != end) return fail(bad_checkpoint("its size is no number"));
  const std::optional<std::string> bytes = from_base64(*root);
  if (!bytes || bytes->size() != checkpoint.root.size()) return fail(bad_checkpoint("its root is no hash"));
  std::ranges::copy(*bytes, checkpoint.root.begin());
  return checkpoint;
}

bool is_signed_by(std::string_view text, std::string_view signatures, const NoteKey& key) {
  while (const std::optional<std::string_view> line = next_line(signatures)) {
    if (!line->starts_with(kSignatureMark)) return false;
    const std::string_view rest = line->substr(kSignatureMark.size());
    const std::size_t blank = rest.rfind(' ');
    if (blank == std::string_view::npos || rest.substr(0, blank) != key.name) continue;
    const std::optional<std::string> bytes = from_base64(rest.substr(blank + 1));
    if (!bytes || bytes->size() <= kKeyIdBytes || !bytes->starts_with(key_id(key))) continue;
    if (ed25519_verify(key.public_key, text, std::string_view(*bytes).substr(kKeyIdBytes))) return true;
  }
  return false;
}

}  // namespace

bool is_key_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c > ' ' && c < '\x7f' && c != '+'; });
}

std::string key_id(const NoteKey& key) {
  Sha256 hasher;
  hasher.update(key.name);
  hasher.update(std::string{'\n', kEd25519Type});
  hasher.update(key.public_key);
  const Sha256Digest digest = std::move(hasher).digest();
  return {digest.begin(), digest.begin() + kKeyIdBytes};
}

Result<NoteKey> parse_note_key(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  const bool is_private = text.starts_with(kPrivatePrefix);
  if (is_private) text.remove_prefix(kPrivatePrefix.size());
  const std::size_t first = text.find('+');
  const std::size_t second = first == std::string_view::npos ? first : text.find('+', first + 1);
  if (second == std::string_view::npos) return fail(bad_key("it has not three parts"));
  NoteKey key{.name = std::string(text.substr(0, first))};
  const std::optional<std::string> bytes = from_base64(text.substr(second + 1));
  if (!is_key_name(key.name)) return fail(bad_key("its name is not usable"));
  if (!bytes || bytes->size() != 1 + kEd25519KeyBytes || bytes->front() != kEd25519Type) {
    return fail(bad_key("it is no Ed25519 key"));
  }
  const std::string material = bytes->substr(1);
  if (is_private) {
    const std::optional<std::string> half = ed25519_public_key(material);
    if (!half) return fail(bad_key("libcrypto does not take it"));
    key.seed = material;
    key.public_key = *half;
  } else {
    key.public_key = material;
  }
  if (id_hex(key) != text.substr(first + 1, second - first - 1)) return fail(bad_key("its number does not fit it"));
  return key;
}

std::string public_key_text(const NoteKey& key) {
  return fmt::format("{}+{}+{}", key.name, id_hex(key), base64(kEd25519Type + key.public_key));
}

std::string private_key_text(const NoteKey& key) {
  return fmt::format("{}{}+{}+{}", kPrivatePrefix, key.name, id_hex(key), base64(kEd25519Type + key.seed));
}

std::string public_key_pem(const NoteKey& key) {
  static constexpr std::string_view kDer("\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00", 12);
  return fmt::format("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n",
                     base64(std::string(kDer) + key.public_key));
}

std::optional<std::string> sign_checkpoint(const Checkpoint& checkpoint, const NoteKey& key) {
  const std::string text = text_of(checkpoint);
  const std::optional<std::string> signature = ed25519_sign(key.seed, text);
  if (!signature) return std::nullopt;
  return fmt::format("{}\n{}{} {}\n", text, kSignatureMark, key.name, base64(key_id(key) + *signature));
}

Result<Checkpoint> open_checkpoint(std::string_view note, const NoteKey& key) {
  const std::size_t blank = note.find("\n\n");
  if (blank == std::string_view::npos) return fail(bad_checkpoint("it has no signature"));
  const std::string_view text = note.substr(0, blank + 1);
  if (!is_signed_by(text, note.substr(blank + 2), key)) {
    return fail(bad_checkpoint(fmt::format("it is not signed by {}", key.name)));
  }
  return parse_checkpoint(text);
}

std::string tile_path(std::string_view level, std::uint64_t index, unsigned width) {
  constexpr std::uint64_t kGroup = 1000;
  std::string path = fmt::format("{:03}", index % kGroup);
  for (std::uint64_t rest = index / kGroup; rest > 0; rest /= kGroup)
    path = fmt::format("x{:03}/{}", rest % kGroup, path);
  if (width < kTileWidth) path += fmt::format(".p/{}", width);
  return fmt::format("tile/{}/{}", level, path);
}

}  // namespace sallyport::audit
