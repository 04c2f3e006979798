// The synthetic addresses of one run: each looked-up name gets one IPv4 (198.18.0.0/15) and one IPv6 (2001:2::/48)
// address from the ranges reserved for benchmarks, which are not routed; from a connection's address we find the name.
//
// Where a tool can reach only its loopback, names get addresses in 127.64.0.0/10, and no IPv6 address.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/egress/ip_address.h"
#include "core/egress/name_hash.h"

namespace sallyport {

enum class AddressRange { kBenchmark, kLoopback };

class AddressBook {
 public:
  // After this many names a run's further lookups are refused: a wildcard rule must not cost unbounded memory.
  static constexpr std::size_t kMostNames = 65536;

  // The first of kLoopback, in the host's byte order; the others follow it.
  static constexpr std::uint32_t kFirstOfLoopback = 0x7f400001;

  explicit AddressBook(AddressRange range = AddressRange::kBenchmark, std::size_t most_names = kMostNames)
      : range_(range), most_names_(most_names) {}
  AddressBook(const AddressBook&) = delete;  // names_ points into index_
  AddressBook& operator=(const AddressBook&) = delete;
  AddressBook(AddressBook&&) = default;
  AddressBook& operator=(AddressBook&&) = default;

  [[nodiscard]] bool has_v6() const { return range_ == AddressRange::kBenchmark; }
  // nullopt when full. The same name has the same addresses for the whole run.
  [[nodiscard]] std::optional<IpAddress> v4_of(std::string_view name);
  [[nodiscard]] std::optional<IpAddress> v6_of(std::string_view name);
  [[nodiscard]] std::optional<std::string_view> name_of(const IpAddress& address) const;

 private:
  [[nodiscard]] std::optional<std::uint32_t> index_of(std::string_view name);
  [[nodiscard]] IpAddress address_at(std::uint32_t index, bool v6) const;

  AddressRange range_;
  std::size_t most_names_;
  std::unordered_map<std::string, std::uint32_t, NameHash, std::equal_to<>> index_{};
  std::vector<const std::string*> names_{};  // the map's keys, which stay where they are
};

}  // namespace sallyport
