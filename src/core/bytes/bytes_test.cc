// base64 and SHA-256 against published vectors.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/bytes/base64.h"
#include "core/bytes/sha256.h"

namespace sallyport {
namespace {

TEST(Base64, FollowsTheVectorsOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(Sha256, FollowsThePublishedVectorsWholeAndInPieces) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 hasher;
  hasher.update("a");
  hasher.update("bc");
  EXPECT_EQ(std::move(hasher).hex(), sha256_hex("abc"));
  EXPECT_TRUE(is_sha256_hex(sha256_hex("")));
  EXPECT_FALSE(is_sha256_hex(std::string(64, 'A')));
  EXPECT_FALSE(is_sha256_hex(std::string(63, 'a')));
}

}  // namespace
}  // namespace sallyport
