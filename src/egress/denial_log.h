// Counts what was refused in one run; bounded, whatever the tool does.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "os/event_fd.h"
#include "sallyport/denial.h"
#include "sallyport/event.h"

namespace sallyport {

class DenialLog {
 public:
  static constexpr std::size_t kMostEntries = 1000;
  static constexpr std::size_t kLongestHost = 256;

  // `sink` may be null. It gets each entry once, when it is made. If no host is allowed at all, every name or address
  // gets that reason.
  DenialLog(EventFd first, EventSink* sink, bool no_host_allowed = false)
      : first_(std::move(first)), sink_(sink), no_host_allowed_(no_host_allowed) {}

  // `host` may hold any bytes. Host, port and reason identify an entry; past kMostEntries all share one.
  // `address`: for kSpecialAddress.
  void add(std::string_view host, std::uint16_t port, DenialReason reason, AddressKind address = AddressKind::kPublic);

  // Readable from the first refusal on.
  [[nodiscard]] int first_fd() const { return first_.fd(); }
  // In order of first occurrence.
  [[nodiscard]] std::vector<Denial> take() { return std::move(denials_); }

 private:
  EventFd first_;
  EventSink* sink_;
  bool no_host_allowed_;
  std::vector<Denial> denials_{};
  std::map<std::tuple<std::string, std::uint16_t, DenialReason>, std::size_t> index_{};
};

}  // namespace sallyport
