// A name server outside with scripted answers, which records the questions.
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
  explicit NameServer(Records records, const Endpoint& where = at("127.0.0.1", 0));
  ~NameServer();
  NameServer(const NameServer&) = delete;
  NameServer& operator=(const NameServer&) = delete;

  [[nodiscard]] Endpoint where() const { return where_; }
  // Changes a name's addresses, as its owner can at any time; clients may not cache answers.
  void rebind(const std::string& name, std::vector<std::string> addresses);
  // "name type", in order.
  [[nodiscard]] std::vector<std::string> questions();

 private:
  void serve();
  [[nodiscard]] std::string answer(std::string_view query);

  Records records_;
  UniqueFd socket_;
  Endpoint where_;
  std::mutex mutex_{};
  bool rebound_ = false;
  std::vector<std::string> questions_{};
  std::thread thread_{};
};

}  // namespace sallyport::test
