// RFC 6962 trees, as the audit log's transparency files (C2SP tlog-tiles) and its proofs need them. A tree over any number of
// leaves is known by at most 64 hashes: nothing here holds the leaves.
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

// The perfect subtrees of the leaves so far, largest first; leaves come from the left.
class CompactTree {
 public:
  void add(const TreeHash& leaf) { add_subtree(leaf, 0); }
  // Of 2^height leaves; its place must be a multiple of that.
  void add_subtree(const TreeHash& root, unsigned height);
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] TreeHash root() const;  // of no leaves: SHA-256 of nothing

 private:
  std::vector<TreeHash> subtrees_;
  std::uint64_t size_ = 0;
};

// Collects a proof while the leaves go by, in order: each of its hashes is the root of a range of leaves.
class ProofCollector {
 public:
  // That leaf `index` is in the tree of `size`.
  [[nodiscard]] static ProofCollector inclusion(std::uint64_t index, std::uint64_t size);
  // That the tree of `size` continues that of `old_size`.
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
