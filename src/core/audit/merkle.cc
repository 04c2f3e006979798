#include "core/audit/merkle.h"

#include <bit>
#include <utility>

namespace sallyport::audit {
namespace {

std::string_view bytes_of(const TreeHash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};  // NOLINT(*-reinterpret-cast): bytes are bytes
}

// The largest power of two below `size`, which is at least 2.
std::uint64_t split_of(std::uint64_t size) { return std::uint64_t{1} << (std::bit_width(size - 1) - 1); }

using RangeList = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

// PATH of RFC 9162, 2.1.3.1, as ranges of leaves.
void inclusion_ranges(std::uint64_t index, std::uint64_t begin, std::uint64_t end, RangeList& out) {
  if (end - begin < 2) return;
  const std::uint64_t middle = begin + split_of(end - begin);
  if (index < middle) {
    inclusion_ranges(index, begin, middle, out);
    out.emplace_back(middle, end);
  } else {
    inclusion_ranges(index, middle, end, out);
    out.emplace_back(begin, middle);
  }
}

// SUBPROOF of RFC 9162, 2.1.4.1.
void consistency_ranges(std::uint64_t old_end, std::uint64_t begin, std::uint64_t end, bool whole, RangeList& out) {
  if (old_end == end) {
    if (!whole) out.emplace_back(begin, end);
    return;
  }
  const std::uint64_t middle = begin + split_of(end - begin);
  if (old_end <= middle) {
    consistency_ranges(old_end, begin, middle, whole, out);
    out.emplace_back(middle, end);
  } else {
    consistency_ranges(old_end, middle, end, false, out);
    out.emplace_back(begin, middle);
  }
}

}  // namespace

TreeHash leaf_hash(std::string_view entry) {
  Sha256 hasher;
  hasher.update(std::string_view("\0", 1));
  hasher.update(entry);
  return std::move(hasher).digest();
}

TreeHash node_hash(const TreeHash& left, const TreeHash& right) {
  Sha256 hasher;
  hasher.update("\x01");
  hasher.update(bytes_of(left));
  hasher.update(bytes_of(right));
  return std::move(hasher).digest();
}

void CompactTree::add_subtree(const TreeHash& root, unsigned height) {
  TreeHash joined = root;
  // As in a binary counter: each carry joins two subtrees of one height.
  for (std::uint64_t carry = size_ >> height; (carry & 1U) != 0; carry >>= 1U) {
    joined = node_hash(subtrees_.back(), joined);
    subtrees_.pop_back();
  }
  subtrees_.push_back(joined);
  size_ += std::uint64_t{1} << height;
}

TreeHash CompactTree::root() const {
  if (subtrees_.empty()) return Sha256().digest();
  TreeHash joined = subtrees_.back();
  for (std::size_t i = subtrees_.size() - 1; i > 0; --i) joined = node_hash(subtrees_[i - 1], joined);
  return joined;
}

ProofCollector ProofCollector::inclusion(std::uint64_t index, std::uint64_t size) {
  RangeList ranges;
  if (index < size) inclusion_ranges(index, 0, size, ranges);
  ProofCollector collector;
  for (const auto& [begin, end] : ranges) collector.ranges_.push_back({.begin = begin, .end = end});
  return collector;
}

ProofCollector ProofCollector::consistency(std::uint64_t old_size, std::uint64_t size) {
  RangeList ranges;
  if (old_size > 0 && old_size < size) consistency_ranges(old_size, 0, size, true, ranges);
  ProofCollector collector;
  for (const auto& [begin, end] : ranges) collector.ranges_.push_back({.begin = begin, .end = end});
  return collector;
}

void ProofCollector::add(const TreeHash& leaf) {
  for (Range& range : ranges_) {
    if (seen_ >= range.begin && seen_ < range.end) range.tree.add(leaf);
  }
  ++seen_;
}

std::vector<TreeHash> ProofCollector::proof() const {
  std::vector<TreeHash> hashes;
  for (const Range& range : ranges_) hashes.push_back(range.tree.root());
  return hashes;
}

bool verify_inclusion(std::uint64_t index, std::uint64_t size, const TreeHash& leaf, std::span<const TreeHash> proof,
                      const TreeHash& root) {
  if (index >= size) return false;
  std::uint64_t node = index;
  std::uint64_t last = size - 1;
  TreeHash hash = leaf;
  for (const TreeHash& step : proof) {
    if (last == 0) return false;
    if ((node & 1U) != 0 || node == last) {
      hash = node_hash(step, hash);
      while ((node & 1U) == 0 && node != 0) node >>= 1U, last >>= 1U;
    } else {
      hash = node_hash(hash, step);
    }
    node >>= 1U;
    last >>= 1U;
  }
  return last == 0 && hash == root;
}

bool verify_consistency(std::uint64_t old_size, const TreeHash& old_root, std::uint64_t size, const TreeHash& root,
                        std::span<const TreeHash> proof) {
  if (old_size > size) return false;
  if (old_size == size) return proof.empty() && old_root == root;
  if (old_size == 0) return proof.empty();
  const bool whole = std::has_single_bit(old_size);  // then the old root is a node of the new tree
  if (!whole && proof.empty()) return false;
  TreeHash old_hash = whole ? old_root : proof.front();
  TreeHash hash = old_hash;
  if (!whole) proof = proof.subspan(1);
  std::uint64_t node = old_size - 1;
  std::uint64_t last = size - 1;
  while ((node & 1U) != 0) node >>= 1U, last >>= 1U;
  for (const TreeHash& step : proof) {
    if (last == 0) return false;
    if ((node & 1U) != 0 || node == last) {
      old_hash = node_hash(step, old_hash);
      hash = node_hash(step, hash);
      while ((node & 1U) == 0 && node != 0) node >>= 1U, last >>= 1U;
    } else {
      hash = node_hash(hash, step);
    }
    node >>= 1U;
    last >>= 1U;
  }
  return last == 0 && old_hash == old_root && hash == root;
}

}  // namespace sallyport::audit
