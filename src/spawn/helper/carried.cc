#include "spawn/helper/carried.h"

#include <sys/socket.h>

namespace sallyport::spawn::helper {
namespace {

using wire::FrameKind;
using wire::kCarriedWindow;
using wire::kMostCarried;

constexpr long kInterrupted = -4;  // EINTR
constexpr long kNotNow = -11;      // EAGAIN
// Large enough to save frames, small enough that the other side does not run out of credit.
constexpr std::uint32_t kWorthACredit = kCarriedWindow / 4;

// The other end of the socket sees a reset too.
void close_with_reset(int socket) {
  const struct linger at_once = {1, 0};
  sys(__NR_setsockopt, long{socket}, long{SOL_SOCKET}, long{SO_LINGER}, &at_once, long{sizeof at_once});
  sys(__NR_close, long{socket});
}

template <class T>
bool read_as(const char* bytes, std::size_t size, T& value) {
  if (size != sizeof value) return false;
  copy_bytes(reinterpret_cast<char*>(&value), bytes, sizeof value);
  return true;
}

}  // namespace

std::uint32_t Carried::free_id() const {
  std::uint32_t id = 0;
  while (id < kMostCarried && slots_[id].in_use) ++id;
  return id;
}

void Carried::open(std::uint32_t id, int socket) {
  Slot& slot = slots_[id];
  slot = {};
  slot.in_use = true;
  slot.socket = socket;
  slot.credit = slot.granted = kCarriedWindow;
  if (socket < 0) slot.closing = Closing::kReset;
}

void Carried::open_kept(std::uint32_t id, std::uint32_t sent) {
  open(id, -1);
  slots_[id].credit -= sent;
  slots_[id].closing = Closing::kNot;
  slots_[id].is_kept = slots_[id].read_ended = true;
}

const char* Carried::kept(std::uint32_t id, std::size_t& size) const {
  const Slot& slot = slots_[id];
  if (!slot.in_use || !slot.is_kept || !slot.got_finish || slot.shut) return nullptr;
  size = slot.held;
  return rings_[id];  // nothing was read from it yet, so it starts at the ring's start
}

void Carried::reset(std::uint32_t id) { break_off(slots_[id]); }

void Carried::break_off(Slot& slot) {
  if (slot.closing != Closing::kNot) return;
  if (slot.socket >= 0) close_with_reset(slot.socket);
  slot.socket = -1;
  slot.held = 0;
  slot.closing = Closing::kReset;
}

bool Carried::take(FrameKind kind, const char* bytes, std::size_t size) {
  std::uint32_t id = kNone;
  if (size < sizeof id) return false;
  copy_bytes(reinterpret_cast<char*>(&id), bytes, sizeof id);
  if (id >= kMostCarried || !slots_[id].in_use || slots_[id].got_gone) return false;
  Slot& slot = slots_[id];
  switch (kind) {
    case FrameKind::kData:
      return take_data(id, bytes + sizeof id, size - sizeof id);
    case FrameKind::kCredit: {
      wire::CarriedCredit more = {};
      if (!read_as(bytes, size, more) || more.count == 0 || more.count > kCarriedWindow - slot.credit) return false;
      slot.credit += more.count;
      return true;
    }
    case FrameKind::kFinish:
      if (size != sizeof id || slot.got_finish) return false;
      slot.got_finish = true;
      return true;
    case FrameKind::kGone: {
      wire::CarriedGone gone = {};
      return read_as(bytes, size, gone) && gone.was_reset <= 1 && take_gone(id, gone.was_reset != 0);
    }
    default:
      return false;
  }
}

bool Carried::take_data(std::uint32_t id, const char* bytes, std::size_t size) {
  Slot& slot = slots_[id];
  if (size == 0 || size > slot.granted || slot.got_finish) return false;
  slot.granted -= static_cast<std::uint32_t>(size);
  if (slot.closing != Closing::kNot) return true;  // the other side sent it before it saw our close
  const std::uint32_t behind = (slot.first + slot.held) % kCarriedWindow;
  const std::size_t till_end = kCarriedWindow - behind;
  const std::size_t part = size < till_end ? size : till_end;
  copy_bytes(rings_[id] + behind, bytes, part);
  copy_bytes(rings_[id], bytes + part, size - part);
  slot.held += static_cast<std::uint32_t>(size);
  slot.fresh = true;
  return true;
}

bool Carried::take_gone(std::uint32_t id, bool was_reset) {
  Slot& slot = slots_[id];
  if (!was_reset && !(slot.got_finish && slot.sent_finish)) return false;
  slot.got_gone = true;
  if (!was_reset) return true;
  // Like a socket: the reader still gets what came before the reset.
  if (slot.socket >= 0 && slot.held > 0) write_on(id);
  break_off(slot);
  return true;
}

void Carried::write_on(std::uint32_t id) {
  Slot& slot = slots_[id];
  slot.fresh = false;
  while (slot.held > 0) {
    const std::uint32_t till_end = kCarriedWindow - slot.first;
    const std::uint32_t part = slot.held < till_end ? slot.held : till_end;
    const long put = sys(__NR_sendto, long{slot.socket}, rings_[id] + slot.first, long{part},
                         long{MSG_DONTWAIT | MSG_NOSIGNAL}, 0L, 0L);
    if (put == kInterrupted) continue;
    if (put == kNotNow) return;
    if (put < 0) return break_off(slot);
    const auto taken = static_cast<std::uint32_t>(put);
    slot.first = (slot.first + taken) % kCarriedWindow;
    slot.held -= taken;
    slot.owed += taken;
  }
  slot.first = 0;
}

// True when there may be more.
bool Carried::read_in(std::uint32_t id, FrameOutbox& out) {
  Slot& slot = slots_[id];
  const std::uint32_t most = slot.credit < wire::kCarriedPiece ? slot.credit : wire::kCarriedPiece;
  char* const at = out.begin(sizeof id + most);
  if (at == nullptr) return false;
  const long got = sys(__NR_recvfrom, long{slot.socket}, at + sizeof id, long{most}, long{MSG_DONTWAIT}, 0L, 0L);
  if (got == kInterrupted) return true;
  if (got == kNotNow) return false;
  if (got == 0) slot.read_ended = true;
  if (got < 0) break_off(slot);
  if (got <= 0) return false;
  copy_bytes(at, reinterpret_cast<const char*>(&id), sizeof id);
  out.end(FrameKind::kData, sizeof id + static_cast<std::size_t>(got));
  slot.credit -= static_cast<std::uint32_t>(got);
  return slot.credit > 0;
}

// Takes each step only after the one before, and only when its frame has room.
void Carried::advance(std::uint32_t id, FrameOutbox& out) {
  Slot& slot = slots_[id];
  if (slot.closing == Closing::kNot) {
    if (slot.read_ended && !slot.sent_finish) slot.sent_finish = out.put(FrameKind::kFinish, &id, sizeof id);
    if (slot.got_finish && slot.held == 0 && !slot.shut && !slot.is_kept) {
      sys(__NR_shutdown, long{slot.socket}, long{SHUT_WR});
      slot.shut = true;
    }
    if (slot.sent_finish && slot.shut) {
      if (slot.socket >= 0) sys(__NR_close, long{slot.socket});
      slot.socket = -1;
      slot.closing = Closing::kOrderly;
    }
  }
  if (slot.closing == Closing::kNot && slot.owed >= kWorthACredit && !slot.got_finish) {
    const wire::CarriedCredit more = {id, slot.owed};
    if (out.put(FrameKind::kCredit, &more, sizeof more)) {
      slot.granted += slot.owed;
      slot.owed = 0;
    }
  }
  if (slot.closing != Closing::kNot && !slot.sent_gone) {
    const wire::CarriedGone gone = {id, slot.closing == Closing::kReset ? 1U : 0U};
    slot.sent_gone = out.put(FrameKind::kGone, &gone, sizeof gone);
  }
  if (slot.sent_gone && slot.got_gone) slot.in_use = false;
}

void Carried::watch(struct pollfd* entries, const FrameOutbox& out) const {
  const bool has_room = out.has_room_for(sizeof(std::uint32_t) + wire::kCarriedPiece);
  for (std::uint32_t id = 0; id < kMostCarried; ++id) {
    const Slot& slot = slots_[id];
    entries[id] = {-1, 0, 0};
    if (!slot.in_use || slot.socket < 0) continue;
    const bool reads = has_room && wants_to_read(slot);
    const bool writes = slot.held > 0;
    // A socket that was read to its end is always watched: it may still be reset. Skip any other that we can neither
    // read nor write now: poll would wake us for nothing.
    if (!reads && !writes && !slot.read_ended) continue;
    entries[id].fd = slot.socket;
    entries[id].events = static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0));
  }
}

void Carried::serve_one(std::uint32_t id, int ready, FrameOutbox& out) {
  Slot& slot = slots_[id];
  const bool broken = (ready & (POLLERR | POLLHUP)) != 0;
  if (slot.socket >= 0 && slot.held > 0 && (slot.fresh || broken || (ready & POLLOUT) != 0)) write_on(id);
  if (wants_to_read(slot) && (broken || (ready & POLLIN) != 0)) {
    read_in(id, out);
  } else if (slot.socket >= 0 && slot.read_ended && broken) {
    break_off(slot);
  }
  advance(id, out);
}

void Carried::serve(const struct pollfd* entries, FrameOutbox& out) {
  // Start with another connection each time: `out` may not have room for all.
  turn_ = (turn_ + 1) % kMostCarried;
  for (std::uint32_t i = 0; i < kMostCarried; ++i) {
    const std::uint32_t id = (turn_ + i) % kMostCarried;
    if (slots_[id].in_use) serve_one(id, entries[id].fd >= 0 ? entries[id].revents : 0, out);
  }
}

void Carried::last_round(FrameOutbox& out) {
  for (std::uint32_t id = 0; id < kMostCarried; ++id) {
    if (!slots_[id].in_use) continue;
    if (slots_[id].socket >= 0) write_on(id);
    while (wants_to_read(slots_[id]) && read_in(id, out)) {
    }
    advance(id, out);
  }
}

}  // namespace sallyport::spawn::helper
