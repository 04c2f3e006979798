// A name server outside that answers what it is told to, and remembers what it was asked.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "egress/test_net.h"

namespace sallyport::test {

class NameServer {
 public:
  using Records = std::map<std::string, std::vector<std::string>>;  // name -> addresses
  explicit NameServer(Records records);
  ~NameServer();
  NameServer(const NameServer&) = delete;
  NameServer& operator=(const NameServer&) = delete;

  [[nodiscard]] Endpoint where() const { return where_; }
  // "name type", in order.
  [[nodiscard]] std::vector<std::string> questions();

 private:
  void serve();
  [[nodiscard]] std::string answer(std::string_view query);

  Records records_;
  UniqueFd socket_;
  Endpoint where_;
  std::mutex mutex_{};
  std::vector<std::string> questions_{};
  std::thread thread_{};
};

}  // namespace sallyport::test
