#include "egress/ends.h"

#include "egress/endpoint.h"

namespace sallyport {

Ends::Ends(EgressRun& run, UniqueFd client, UniqueFd reserve, std::function<void()> gone)
    : run_(run), gone_(std::move(gone)), client_(std::move(client)), reserve_(std::move(reserve)) {}

bool Ends::watch_client(Watcher& watcher) {
  Result<Watch> watch = run_.loop->watch(client_.get(), kBothWays, watcher);
  if (!watch) {
    abort();
    return false;
  }
  client_watch_ = std::move(*watch);
  return true;
}

bool Ends::take_server(UniqueFd server, Watcher& watcher) {
  server_ = std::move(server);
  Result<Watch> watch = run_.loop->watch(server_.get(), kBothWays, watcher);
  if (!watch) {
    abort();
    return false;
  }
  server_watch_ = std::move(*watch);
  return true;
}

void Ends::seek_server(UpstreamSearch::Wanted wanted, std::function<void(UpstreamSearch::Found)> found) {
  search_ = std::make_unique<UpstreamSearch>(run_, std::move(wanted), std::move(reserve_), std::move(found));
  search_->start();
}

void Ends::say_goodbye(std::string text) {
  state_ = State::kGoodbye;
  drop_server();
  farewell_.say(std::move(text));
  timer_ = run_.loop->after(run_.timeouts.goodbye, [this] { close(); });
  advance_goodbye();
}

void Ends::advance_goodbye() {
  switch (farewell_.advance(client_.get(), run_.buffer)) {
    case Farewell::State::kWaiting:
      return;
    case Farewell::State::kClosed:
      return close();
    case Farewell::State::kReset:
      return abort();
  }
}

void Ends::drop_server() {
  if (search_) search_->cancel();
  reserve_.reset();
  server_watch_.reset();
  close_with_reset(std::move(server_));
}

void Ends::abort() {
  if (state_ == State::kGone) return;
  drop_server();
  client_watch_.reset();
  close_with_reset(std::move(client_));
  close();
}

void Ends::close() {
  if (state_ == State::kGone) return;
  state_ = State::kGone;
  if (search_) search_->cancel();
  reserve_.reset();
  server_watch_.reset();
  server_.reset();
  client_watch_.reset();
  client_.reset();
  timer_.reset();
  gone_();
}

}  // namespace sallyport
