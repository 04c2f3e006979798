#include "egress/egress.h"

#include <pthread.h>

#include <csignal>
#include <limits>
#include <optional>
#include <system_error>
#include <thread>

#include "core/errors.h"
#include "egress/admission.h"
#include "egress/dns_tcp.h"
#include "egress/dns_udp.h"
#include "egress/handed.h"
#include "egress/refusal_watch.h"
#include "egress/run.h"

namespace sallyport {
namespace {

std::vector<Budget> budgets_of(const EgressRules& rules) {
  constexpr ByteCount kNone{std::numeric_limits<std::uint64_t>::max()};
  std::vector<Budget> budgets;
  for (const HostRule& rule : rules.rules()) {
    const HostRuleFields& fields = rule.fields();
    budgets.push_back({.up = count(fields.max_up.value_or(kNone)), .down = count(fields.max_down.value_or(kNone))});
  }
  return budgets;
}

// The caller's threads handle signals, and a reset connection must not raise one (SIGPIPE: splice has no flag against
// it).
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

class Proxy final : public EgressProxy {
 public:
  Proxy(EgressOptions options, std::unique_ptr<Loop> loop, EventFd first_denial)
      : connections_(options.max_connections), run_(std::move(options), std::move(loop), std::move(first_denial)) {
    run_.budgets = budgets_of(run_.rules);
  }
  ~Proxy() override { end(); }
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  [[nodiscard]] Status serve(EgressSockets sockets) {
    for (UniqueFd& fd : sockets.listeners) TRY(admission_.listen_on(std::move(fd), Admission::Kind::kDirect));
    for (UniqueFd& fd : sockets.redirected) TRY(admission_.listen_on(std::move(fd), Admission::Kind::kRedirected));
    for (UniqueFd& fd : sockets.dns_udp) TRY(dns_udp_.serve_on(std::move(fd)));
    for (UniqueFd& fd : sockets.dns_tcp) TRY(dns_tcp_.serve_on(std::move(fd)));
    if (sockets.refusals) TRY(refusals_.serve_on(std::move(sockets.refusals)));
    if (sockets.handed) TRY(handed_.serve_on(std::move(sockets.handed)));
    const SignalsBlocked blocked;
    try {
      thread_ = std::thread([this] { serve_until_stopped(); });
    } catch (const std::system_error& error) {  // std::thread reports failure only by throwing
      return fail(system_error("start", "the egress thread", error.code().value()));
    }
    return {};
  }

  [[nodiscard]] int first_denial_fd() const override { return run_.denials.first_fd(); }

  [[nodiscard]] std::vector<Denial> stop() override {
    end();
    return run_.denials.take();
  }

 private:
  void serve_until_stopped() {
    run_.loop->run();
    handed_.close_all();
    admission_.close_all();
    run_.bridges.close_all();
    dns_udp_.close_all();
    dns_tcp_.close_all();
    refusals_.close_all();
    run_.unreachable.summarise();
  }

  void end() {
    if (!thread_.joinable()) return;
    run_.loop->stop();
    thread_.join();
    run_.events.close();
  }

  const std::size_t connections_;
  EgressRun run_;
  Admission admission_{run_, connections_};
  DnsUdp dns_udp_{run_};
  DnsTcp dns_tcp_{run_};
  RefusalWatch refusals_{run_};
  HandedConnections handed_{run_, admission_, dns_tcp_};
  std::thread thread_{};
};

}  // namespace

Result<std::unique_ptr<EgressProxy>> EgressProxy::start(EgressSockets sockets, EgressOptions options) {
  std::unique_ptr<Loop> loop = TRY(Loop::create());
  EventFd first_denial = TRY(EventFd::create());
  auto proxy = std::make_unique<Proxy>(std::move(options), std::move(loop), std::move(first_denial));
  TRY(proxy->serve(std::move(sockets)));
  return proxy;
}

}  // namespace sallyport
