// One request of a tool to the registry for which the operator has credentials: reads it, judges it, sends it on with
// the credentials, and returns the answer without them (core/egress/registry_endpoint.h, registry_answer.h). The
// connection ends after one request: it drops what a tool sends after that.
//
// Holds at most one head of either side, and one piece of the answer that the tool has not read yet: 130 KiB.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/egress/http_requests.h"
#include "core/egress/registry_answer.h"
#include "egress/ends.h"
#include "egress/guest.h"
#include "egress/run.h"

namespace sallyport {

class RegistryConnection final : public Guest {
 public:
  // As for Connection. `run.registry` is set.
  RegistryConnection(EgressRun& run, UniqueFd client, UniqueFd reserve, std::size_t rule, std::function<void()> gone);
  RegistryConnection(const RegistryConnection&) = delete;
  RegistryConnection& operator=(const RegistryConnection&) = delete;

  void start() override;
  void ready(int fd, std::uint32_t events) override;
  void last_round() override;

 private:
  enum class State { kRequest, kSeeking, kAnswer };

  void advance();
  void read_request();
  void judge(const HttpRequests::Step& step);
  void use_found(UpstreamSearch::Found found);
  void advance_answer();
  [[nodiscard]] bool send_request();
  [[nodiscard]] bool send_answer();
  [[nodiscard]] bool read_answer();
  void use_answer(RegistryAnswer::State state);
  void refuse(DenialReason reason, std::string goodbye);
  void unreachable(const std::string& why);
  void say_goodbye(std::string text);
  void leave();
  [[nodiscard]] bool is_in(State state) const { return ends_.is_open() && state_ == state; }

  EgressRun& run_;
  const RegistryEndpoint& endpoint_;
  const std::size_t rule_;
  std::function<void()> gone_;
  Ends ends_;
  State state_ = State::kRequest;  // while both ends are open

  HttpRequests http_{};
  std::string request_{};  // with the credentials
  bool is_head_ = false;
  std::size_t request_sent_ = 0;
  std::optional<RegistryAnswer> answer_{};
  std::string out_{};  // for the client
  bool answered_ = false;
  Timer request_timer_{};
  Timer turn_{};  // to continue without an event
};

}  // namespace sallyport
