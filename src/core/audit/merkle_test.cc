#include "core/audit/merkle.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/bytes/hex.h"

namespace sallyport::audit {
namespace {

// The test data of RFC 6962's reference implementation (certificate-transparency, merkle_tree_test).
const std::vector<std::string> kInputs = {
    std::string(),
    std::string("\x00", 1),
    std::string("\x10", 1),
    std::string("\x20\x21", 2),
    std::string("\x30\x31", 2),
    std::string("\x40\x41\x42\x43", 4),
    std::string("\x50\x51\x52\x53\x54\x55\x56\x57", 8),
    std::string("\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f", 16)};
const std::vector<std::string> kRoots = {"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                                         "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
                                         "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
                                         "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
                                         "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
                                         "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
                                         "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
                                         "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"};

std::vector<TreeHash> leaves(std::size_t count) {
  std::vector<TreeHash> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(leaf_hash("entry " + std::to_string(i)));
  return out;
}

TreeHash root_of(const std::vector<TreeHash>& all, std::size_t count) {
  CompactTree tree;
  for (std::size_t i = 0; i < count; ++i) tree.add(all[i]);
  return tree.root();
}

TEST(MerkleTree, HasTheRootsOfTheReferenceImplementation) {
  CompactTree tree;
  EXPECT_EQ(hex_of(tree.root()), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  for (std::size_t i = 0; i < kInputs.size(); ++i) {
    tree.add(leaf_hash(kInputs[i]));
    EXPECT_EQ(hex_of(tree.root()), kRoots[i]) << i;
  }
}

TEST(MerkleTree, ProvesEveryLeafOfEverySize_C39) {
  const std::vector<TreeHash> all = leaves(40);
  for (std::size_t size = 1; size <= all.size(); ++size) {
    const TreeHash root = root_of(all, size);
    for (std::size_t index = 0; index < size; ++index) {
      ProofCollector collector = ProofCollector::inclusion(index, size);
      for (std::size_t i = 0; i < size; ++i) collector.add(all[i]);
      std::vector<TreeHash> proof = collector.proof();
      EXPECT_TRUE(verify_inclusion(index, size, all[index], proof, root)) << index << " of " << size;
      EXPECT_FALSE(verify_inclusion(index, size, leaf_hash("another"), proof, root));
      if (size > 1) {
        EXPECT_FALSE(verify_inclusion((index + 1) % size, size, all[index], proof, root));
        proof.front()[0] ^= 1U;
        EXPECT_FALSE(verify_inclusion(index, size, all[index], proof, root));
        proof.pop_back();
        EXPECT_FALSE(verify_inclusion(index, size, all[index], proof, root));
      }
    }
  }
}

TEST(MerkleTree, ProvesThatEachSizeContinuesEverySmallerOne_C39) {
  const std::vector<TreeHash> all = leaves(40);
  std::vector<TreeHash> rewritten = all;
  rewritten[3] = leaf_hash("rewritten");
  for (std::size_t size = 1; size <= all.size(); ++size) {
    for (std::size_t old = 1; old <= size; ++old) {
      ProofCollector collector = ProofCollector::consistency(old, size);
      for (std::size_t i = 0; i < size; ++i) collector.add(all[i]);
      const std::vector<TreeHash> proof = collector.proof();
      EXPECT_TRUE(verify_consistency(old, root_of(all, old), size, root_of(all, size), proof)) << old << ' ' << size;
      if (old > 3) {
        EXPECT_FALSE(verify_consistency(old, root_of(rewritten, old), size, root_of(all, size), proof));
      }
      if (size > 3) {
        EXPECT_FALSE(verify_consistency(old, root_of(all, old), size, root_of(rewritten, size), proof));
      }
    }
  }
}

}  // namespace
}  // namespace sallyport::audit
