// TLS on one side, a plain socket on the other: it encrypts what the owner writes to the plain end, and decrypts what
// comes in. So the user of a connection need not know whether it is encrypted.
//
// Holds at most 16 KiB in each direction, besides what the kernel and OpenSSL keep.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "egress/loop.h"
#include "egress/tls_context.h"

namespace sallyport {

class TlsBridge final : public Watcher {
 public:
  // The plain end, non-blocking; or none, and the reason.
  using Done = std::function<void(UniqueFd, std::string)>;

  // `outside` is connected and non-blocking; `name` is the host to which it must lead.
  TlsBridge(Loop& loop, UniqueFd outside, Done done)
      : loop_(loop), outside_(std::move(outside)), done_(std::move(done)) {}
  TlsBridge(const TlsBridge&) = delete;
  TlsBridge& operator=(const TlsBridge&) = delete;

  // Calls `done` once, possibly before it returns; `done` may destroy this object, or keep it and use the plain end.
  void start(TlsContext& context, const std::string& name);
  void ready(int fd, std::uint32_t events) override;
  // Moves the bytes that are there, without waiting.
  void last_round() {
    if (!is_gone_ && plain_) pump();
  }
  // Called once, when both sides have ended or one has failed. The object may be destroyed after the current events.
  void when_gone(std::function<void()> gone) { gone_ = std::move(gone); }

 private:
  enum class Step { kProgress, kWaiting, kGone };

  void shake_hands();
  void open_plain_end();
  void pump();
  [[nodiscard]] Step pump_out();
  [[nodiscard]] Step pump_in();
  [[nodiscard]] Step failed(int result) const;
  void give_up(const std::string& problem);
  void end();

  Loop& loop_;
  UniqueFd outside_;
  UniqueFd plain_{};
  Watch outside_watch_{};
  Watch plain_watch_{};
  TlsConnection tls_{};
  Done done_;
  std::function<void()> gone_{};
  std::string out_{};  // read from the plain end, not yet encrypted
  std::string in_{};   // decrypted, not yet written to the plain end
  bool out_ended_ = false;
  bool in_ended_ = false;
  bool is_gone_ = false;
  Timer timer_{};
};

// The bridges of a run, some of whose users may be gone: a bridge still sends what its user has written.
class TlsBridges {
 public:
  explicit TlsBridges(Loop& loop) : loop_(loop) {}
  void keep(std::unique_ptr<TlsBridge> bridge);
  // Each sends the bytes that are there, then all are closed.
  void close_all();

 private:
  Loop& loop_;
  std::list<std::unique_ptr<TlsBridge>> bridges_{};
};

}  // namespace sallyport
