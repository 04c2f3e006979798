// The synthetic addresses of one run: each looked-up name gets one IPv4 (198.18.0.0/15) and one IPv6 (2001:2::/48)
// address of the ranges set aside for benchmarks, which nobody routes; a connection's address leads back to the name.
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

class AddressBook {
 public:
  // A run that looks up more names than this is refused more: a wildcard rule must not cost memory without bound.
  static constexpr std::size_t kMostNames = 65536;

  AddressBook() = default;
  AddressBook(const AddressBook&) = delete;  // names_ points into index_
  AddressBook& operator=(const AddressBook&) = delete;
  AddressBook(AddressBook&&) = default;
  AddressBook& operator=(AddressBook&&) = default;

  // nullopt when full. The same name has the same addresses for the whole run.
  [[nodiscard]] std::optional<IpAddress> v4_of(std::string_view name);
  [[nodiscard]] std::optional<IpAddress> v6_of(std::string_view name);
  [[nodiscard]] std::optional<std::string_view> name_of(const IpAddress& address) const;

 private:
  [[nodiscard]] std::optional<std::uint32_t> index_of(std::string_view name);
  std::unordered_map<std::string, std::uint32_t, NameHash, std::equal_to<>> index_{};
  std::vector<const std::string*> names_{};  // the map's keys, which stay where they are
};

}  // namespace sallyport
