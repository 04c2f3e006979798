// The connections of a tool that has no network namespace: its worker made each and hands it over with the address that the tool
// wanted (spawn/wire/handed.h). After that they are treated like connections from a jail's listeners.
#pragma once

#include "egress/admission.h"
#include "egress/dns_tcp.h"
#include "egress/run.h"
#include "spawn/wire/handed.h"

namespace sallyport {

class HandedConnections final : public Watcher {
 public:
  HandedConnections(EgressRun& run, Admission& admission, DnsTcp& dns) : run_(run), admission_(admission), dns_(dns) {}

  [[nodiscard]] Status serve_on(UniqueFd socket);
  void ready(int fd, std::uint32_t events) override;
  // First judges what already waits: a tool may end right after it has connected.
  void close_all();

 private:
  // False: nothing more waits.
  [[nodiscard]] bool take_one();
  [[nodiscard]] bool serve(const spawn::wire::Handed& handed, UniqueFd client);
  void pause();

  EgressRun& run_;
  Admission& admission_;
  DnsTcp& dns_;
  UniqueFd socket_{};
  Watch watch_{};
  Timer retry_{};
};

}  // namespace sallyport
