// Which kind of helper a process is: its one argument, as the owner writes it and the helper reads it. Without libc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spawn/freestanding/decimal.h"

namespace sallyport::spawn::wire {

enum class HelperKind : char {
  kWorkers = 'w',  // a server of tools without a jail of ours: `ready` workers wait for requests
  kInits = 'i',    // a server of jails: `ready` inits wait, each in a jail that is partly built, or whole
  kOneRun = 'o',   // the init of one run's jail, a child of the owner, in new user, mount and pid namespaces
  kWrapped = 'b',  // the init inside a wrapper's jail: that wrapper's process 1
  kFramed = 'f',   // like kWrapped where no descriptor can be passed (frame.h)
  kGuest = 'g',    // process 1 of a virtual machine (guest_init.cc)
};

struct HelperStart {
  HelperKind kind = HelperKind::kWorkers;
  std::uint32_t ready = 0;  // kWorkers, kInits
  std::uint32_t uid = 0,
                gid = 0;  // kOneRun: the owner's; kInits: the user that the jails' tools run as, when `as_another`
  bool as_another = false;
  std::uint32_t image_fd = 0;  // kWrapped: the launch image; the channel is the descriptor after it
};

inline constexpr std::size_t kHelperArgumentSize = 40;  // a letter, three numbers of ten digits, two ',', the end

// "w2", "i2", "i2,1000,1000", "o1000,1000", "f", "g"; for kWrapped the descriptor's number alone, which a wrapper's
// command line shows.
inline void write_helper_argument(const HelperStart& start, char (&out)[kHelperArgumentSize]) {
  char* at = &out[0];
  if (start.kind != HelperKind::kWrapped) *at++ = static_cast<char>(start.kind);
  switch (start.kind) {
    case HelperKind::kWorkers:
    case HelperKind::kInits:
      at = helper::append_number(at, start.ready);
      if (!start.as_another) break;
      *at++ = ',';
      [[fallthrough]];
    case HelperKind::kOneRun:
      at = helper::append_number(at, start.uid);
      *at++ = ',';
      at = helper::append_number(at, start.gid);
      break;
    case HelperKind::kWrapped:
      at = helper::append_number(at, start.image_fd);
      break;
    case HelperKind::kFramed:
    case HelperKind::kGuest:
      break;
  }
  *at = '\0';
}

// False for text that write_helper_argument() would not write.
inline bool read_helper_argument(const char* text, HelperStart& start) {
  start = {};
  if (*text >= '0' && *text <= '9') {
    start.kind = HelperKind::kWrapped;
    return helper::read_number(text, start.image_fd) && *text == '\0';
  }
  start.kind = static_cast<HelperKind>(*text);
  if (*text != '\0') ++text;
  switch (start.kind) {
    case HelperKind::kWorkers:
    case HelperKind::kInits:
      if (!helper::read_number(text, start.ready)) return false;
      if (*text == '\0') return true;
      if (start.kind == HelperKind::kWorkers || *text++ != ',') return false;
      start.as_another = true;
      [[fallthrough]];
    case HelperKind::kOneRun:
      if (!helper::read_number(text, start.uid) || *text != ',') return false;
      ++text;
      return helper::read_number(text, start.gid) && *text == '\0';
    case HelperKind::kFramed:
    case HelperKind::kGuest:
      return *text == '\0';
    case HelperKind::kWrapped:
      break;
  }
  return false;
}

}  // namespace sallyport::spawn::wire
