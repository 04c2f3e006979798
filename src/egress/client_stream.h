// A client's bytes on their way to the server: holds them back until they are checked, and goes on checking as long as
// the protocol can name another host. Holds at most one ClientHello or HTTP head, about 64 KiB, and only while it
// checks.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/egress/http_guess.h"
#include "core/egress/http_requests.h"
#include "core/egress/tls_opening.h"
#include "egress/first_bytes.h"
#include "egress/relay.h"

namespace sallyport {

class ClientStream {
 public:
  enum class State {
    kWaiting,
    kNoMemory,    // as Relay's
    kYield,       // there is more to do; let others go first
    kEnded,       // the client has ended, and everything was passed on
    kRefused,     // see refusal()
    kClientGone,  // reset, or ended before it named a host
    kServerGone,  // accepts no more bytes; may still have sent some
    kGoOn,        // internal, never returned: do another round
  };

  struct Place {
    std::string name{};
    std::uint16_t port = 0;
    ConnectionCheck check = ConnectionCheck::kTls;
  };

  ClientStream(Place place, std::uint64_t& budget, PipePool& pool, std::span<std::uint8_t> buffer);

  // Goes as far as it can. `server` is -1 while there is no connection to it.
  [[nodiscard]] State advance(int client, int server);

  // The check is far enough to connect to the server.
  [[nodiscard]] bool wants_server() const { return cleared_ || place_.check == ConnectionCheck::kByAddress; }
  // The client must send more bytes, and soon.
  [[nodiscard]] bool owes() const;
  // The client has sent a part of them.
  [[nodiscard]] bool owes_the_rest() const { return held_.size() > sent_ahead_ || in_head_; }
  [[nodiscard]] const Place& place() const { return place_; }
  [[nodiscard]] const Refusal& refusal() const { return refusal_; }
  // True between two answers, as far as we know without reading them: our own answer would not interrupt another.
  [[nodiscard]] bool may_answer() const { return !awaits_answer_; }
  void server_answered() { awaits_answer_ = false; }
  // The server's answer decides what its client may send next: we must see its bytes before the client gets them.
  [[nodiscard]] bool watches_server() const { return mode_ == Mode::kAfterHello && !server_hello_.done(); }
  void see_server(std::span<const std::uint8_t> bytes) { server_hello_.feed(bytes); }

 private:
  enum class Mode { kFirstBytes, kAfterHello, kGuess, kHttp, kRaw };

  [[nodiscard]] State advance_hold(int client);
  [[nodiscard]] State end_of_hold();
  [[nodiscard]] State judge();
  [[nodiscard]] State guess(std::span<const std::uint8_t> fresh);
  [[nodiscard]] State advance_http(int client, int server);
  [[nodiscard]] State feed(std::span<const std::uint8_t> bytes);
  [[nodiscard]] State relay(int client, int server, std::uint64_t most);
  [[nodiscard]] State flush(int server);
  State refuse(Refusal refusal);
  void pass_held(std::size_t count);
  void send_ahead();
  void go_raw();

  Place place_;
  std::uint64_t& budget_;
  Relay relay_;
  std::span<std::uint8_t> buffer_;
  Mode mode_;
  bool cleared_ = false;
  bool in_head_ = false;
  bool awaits_answer_ = false;
  // Not yet checked. Bytes that no server can act on yet may go out already: the client may wait for an answer to them.
  std::string held_{};
  std::size_t sent_ahead_ = 0;  // of held_, or of the first head
  bool past_head_ = false;      // more than a head was sent ahead and is no longer held
  std::string pending_{};       // checked, not yet written
  std::size_t written_ = 0;
  std::uint64_t judged_bytes_ = 0;
  ServerHelloWatch server_hello_{};
  HttpGuesser guess_{};
  HttpRequests http_{};
  Refusal refusal_{};
};

}  // namespace sallyport
