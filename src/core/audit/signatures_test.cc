// Signed notes, DSSE and the key forms, checked against other projects' vectors.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/audit/dsse.h"
#include "core/audit/signed_note.h"
#include "core/bytes/base64.h"
#include "core/bytes/ed25519.h"

namespace sallyport::audit {
namespace {

std::string from_hex(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

// golang.org/x/mod/sumdb/note, example_test.go.
constexpr std::string_view kGoPrivate =
    "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
constexpr std::string_view kGoPublic = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";

NoteKey test_key() { return *parse_note_key(kGoPrivate); }

TEST(Ed25519, SignsAsRfc8032Says) {
  const std::string seed = from_hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
  const std::string signature = *ed25519_sign(seed, "\x72");
  EXPECT_EQ(*ed25519_public_key(seed), from_hex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"));
  EXPECT_EQ(
      signature,
      from_hex("92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2e"
               "aeb4302aeeb00d291612bb0c00"));
  EXPECT_TRUE(ed25519_verify(*ed25519_public_key(seed), "\x72", signature));
  EXPECT_FALSE(ed25519_verify(*ed25519_public_key(seed), "\x73", signature));
}

TEST(NoteKey, IsTheFormThatGosNotesHave) {
  const NoteKey key = test_key();
  EXPECT_EQ(public_key_text(key), kGoPublic);
  EXPECT_EQ(private_key_text(key), kGoPrivate);
  EXPECT_EQ(parse_note_key(kGoPublic)->public_key, key.public_key);
  for (std::string wrong : {std::string("PeterNeumann"), std::string(kGoPublic) + "A", "Peter" + std::string(kGoPublic),
                            std::string("a b") + std::string(kGoPublic).substr(12)}) {
    EXPECT_FALSE(parse_note_key(wrong)) << wrong;
  }
}

TEST(Checkpoint, IsBelievedWithItsKeysSignatureAndUnchangedOnly_C39) {
  const NoteKey key = test_key();
  Checkpoint checkpoint{.origin = key.name, .size = 42};
  checkpoint.root.fill(7);
  const std::string note = *sign_checkpoint(checkpoint, key);
  const Result<Checkpoint> opened = open_checkpoint(note, key);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->size, 42U);
  EXPECT_EQ(opened->root, checkpoint.root);
  for (std::size_t at = 0; at < note.size(); ++at) {
    std::string changed = note;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(open_checkpoint(changed, key)) << at;
  }
  NoteKey other = key;
  std::ranges::reverse(other.public_key);
  EXPECT_FALSE(open_checkpoint(note, other));
  // A witness's line may come before ours.
  const std::size_t line = note.find("\xE2\x80\x94");
  EXPECT_TRUE(open_checkpoint(note.substr(0, line) + "\xE2\x80\x94 witness AAAAAAAA\n" + note.substr(line), key));
}

TEST(TilePath, IsThatOfC2sp) {
  EXPECT_EQ(tile_path("0", 0, kTileWidth), "tile/0/000");
  EXPECT_EQ(tile_path("1", 1234067, 5), "tile/1/x001/x234/067.p/5");
  EXPECT_EQ(tile_path("entries", 999, kTileWidth), "tile/entries/999");
}

TEST(Dsse, EncodesAsItsSpecificationsVector_C39) {
  EXPECT_EQ(pre_authentication_encoding("http://example.com/HelloWorld", "hello world"),
            "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
  EXPECT_EQ(pre_authentication_encoding("", ""), "DSSEv1 0  0 ");
}

TEST(Dsse, IsOpenedWithItsKeyAndUnchangedOnly_C39) {
  const NoteKey key = test_key();
  const std::string envelope = *dsse_envelope(kInTotoPayload, R"({"a":1})", key);
  const Result<VerifiedPayload> opened = open_envelope(envelope, key);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->payload, R"({"a":1})");
  // Changes the payload, type or signature; we never trust a keyid, so changing it has no effect.
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string changed = envelope;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos);
    return changed.replace(at, from.size(), to);
  };
  EXPECT_FALSE(open_envelope(with(base64(R"({"a":1})"), base64(R"({"a":2})")), key));
  EXPECT_FALSE(open_envelope(with("vnd.in-toto", "vnd.another"), key));
  EXPECT_FALSE(open_envelope(with(R"("sig":")", R"("sig":"AAAA)"), key));
  EXPECT_TRUE(open_envelope(with(R"("keyid":"Peter)", R"("keyid":"Paul)"), key));
  for (const char* wrong : {"", "[]", "{}", R"({"payload":"","payloadType":"","signatures":{}})", "\xff"}) {
    EXPECT_FALSE(open_envelope(wrong, key)) << wrong;
  }
}

TEST(Base64, IsReadInBothAlphabetsAndOneSpellingOnly) {
  EXPECT_EQ(from_base64("+/+/"), from_base64("-_-_"));
  EXPECT_EQ(from_base64("YQ=="), "a");
  EXPECT_EQ(from_base64("YQ"), "a");
  for (const char* wrong : {"Y", "YQ=", "YR==", "Y Q=", "====", "YQ==="}) EXPECT_FALSE(from_base64(wrong)) << wrong;
}

}  // namespace
}  // namespace sallyport::audit
