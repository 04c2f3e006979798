// RFC 6962 trees, as the audit log's transparency files (C2SP tlog-tiles) and its proofs need them. At most 64 hashes
// describe a tree over any number of leaves, so nothing here holds the leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/bytes/sha256.h"

namespace sallyport::audit {

using TreeHash = Sha256Digest;

[[nodiscard]] TreeHash leaf_hash(std::string_view entry);
[[nodiscard]] TreeHash node_hash(const TreeHash& left, const TreeHash& right);

// Holds the perfect subtrees of the leaves so far, largest first; new leaves go to the right.
class CompactTree {
 public:
  void add(const TreeHash& leaf) { add_subtree(leaf, 0); }
  // Adds a subtree of 2^height leaves; its first leaf's index must be a multiple of that.
  void add_subtree(const TreeHash& root, unsigned height);
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] TreeHash root() const;  // of no leaves: SHA-256 of nothing

 private:
  std::vector<TreeHash> subtrees_;
  std::uint64_t size_ = 0;
};

// Collects a proof from the leaves, fed in order: each hash of the proof is the root of a range of leaves.
class ProofCollector {
 public:
  // Proves that leaf `index` is in the tree of `size`.
  [[nodiscard]] static ProofCollector inclusion(std::uint64_t index, std::uint64_t size);
  // Proves that the tree of `size` extends the tree of `old_size`.
  [[nodiscard]] static ProofCollector consistency(std::uint64_t old_size, std::uint64_t size);
  void add(const TreeHash& leaf);
  [[nodiscard]] std::vector<TreeHash> proof() const;

 private:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    CompactTree tree{};
  };
  std::vector<Range> ranges_;
  std::uint64_t seen_ = 0;
};

// RFC 9162, 2.1.3.2 and 2.1.4.2.
[[nodiscard]] bool verify_inclusion(std::uint64_t index, std::uint64_t size, const TreeHash& leaf,
                                    std::span<const TreeHash> proof, const TreeHash& root);
[[nodiscard]] bool verify_consistency(std::uint64_t old_size, const TreeHash& old_root, std::uint64_t size,
                                      const TreeHash& root, std::span<const TreeHash> proof);

}  // namespace sallyport::audit
