// Signed notes and checkpoints of C2SP (signed-note, tlog-checkpoint) with Ed25519, and their text forms of keys.
//
//   example.org/log            the origin
//   42                         how many records
//   base64                     the tree's root
//                              an empty line
//   — example.org/log base64   key id (4 bytes) and signature
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/audit/merkle.h"
#include "sallyport/result.h"

namespace sallyport::audit {

struct NoteKey {
  std::string name{};
  std::string public_key{};  // 32 bytes
  std::string seed{};        // 32 bytes; empty when only the public half is known
};

// "name+1a2b3c4d+base64" and "PRIVATE+KEY+name+1a2b3c4d+base64". InvalidRequest("key") when it is neither.
[[nodiscard]] Result<NoteKey> parse_note_key(std::string_view text);
[[nodiscard]] std::string public_key_text(const NoteKey& key);
[[nodiscard]] std::string private_key_text(const NoteKey& key);
// X.509 SubjectPublicKeyInfo (RFC 8410), for other programs.
[[nodiscard]] std::string public_key_pem(const NoteKey& key);
// Not empty, no blank, no plus, printable.
[[nodiscard]] bool is_key_name(std::string_view name);
// The first four bytes of SHA-256(name LF 0x01 key).
[[nodiscard]] std::string key_id(const NoteKey& key);

struct Checkpoint {
  std::string origin{};
  std::uint64_t size = 0;
  TreeHash root{};
};

[[nodiscard]] std::optional<std::string> sign_checkpoint(const Checkpoint& checkpoint, const NoteKey& key);
// Checks the signature of `key` first; the note may hold other signatures too (a witness's).
[[nodiscard]] Result<Checkpoint> open_checkpoint(std::string_view note, const NoteKey& key);

// "tile/0/x001/067.p/5"; `width` 256 is the whole tile.
[[nodiscard]] std::string tile_path(std::string_view level, std::uint64_t index, unsigned width);
inline constexpr unsigned kTileWidth = 256;

}  // namespace sallyport::audit
