#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "sallyport/digest.h"

namespace sallyport {
namespace {

// FIPS 180-4, the example "abc".
TEST(Sha512, GivesTheStandardsExampleInOnePieceAndInThree) {
  constexpr std::string_view kExpected =
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e"
      "2a9ac94fa54ca49f";
  Sha512 whole;
  whole.update("abc");
  EXPECT_EQ(std::move(whole).hex(), kExpected);
  Sha512 pieces;
  for (const char* piece : {"a", "b", "c"}) pieces.update(piece);
  EXPECT_EQ(std::move(pieces).hex(), kExpected);
}

}  // namespace
}  // namespace sallyport
