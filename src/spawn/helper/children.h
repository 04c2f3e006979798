// The children of a server: which of them wait for a request, and over which channel the owner commands each of the
// others.
#pragma once

#include <signal.h>

#include "spawn/freestanding/sys.h"

namespace sallyport::spawn::helper {

struct Child {
  int pid;
  std::uint32_t number;  // never used again
  bool idle;
  int channel;  // -1 unless the child is an init that has a request
};

class Children {
 public:
  [[nodiscard]] std::uint32_t idle() const { return idle_; }
  [[nodiscard]] bool full() const { return count_ == kMost; }

  // The number of the next child, taken before the child's process exists: the process must know its number.
  std::uint32_t take_number() { return next_number_++; }

  Child& add_idle(long pid, std::uint32_t number) {
    ++idle_;
    return table_[count_++] = {static_cast<int>(pid), number, true, -1};
  }
  Child& add_busy(long pid, std::uint32_t number) {
    return table_[count_++] = {static_cast<int>(pid), number, false, -1};
  }
  void make_busy(Child& child) {
    child.idle = false;
    --idle_;
  }
  // The child has ended, and is reaped.
  void remove(Child& child) {
    if (child.idle) --idle_;
    child = table_[--count_];
  }

  Child* find(std::uint32_t number) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (table_[i].number == number) return &table_[i];
    }
    return nullptr;
  }
  Child* find_pid(long pid) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (table_[i].pid == pid) return &table_[i];
    }
    return nullptr;
  }

  void kill_all() const {
    for (std::size_t i = 0; i < count_; ++i) sys(__NR_kill, long{table_[i].pid}, long{SIGKILL});
  }
  void close_channels() const {
    for (std::size_t i = 0; i < count_; ++i) sys(__NR_close, long{table_[i].channel});
  }

 private:
  static constexpr std::size_t kMost = 65536;

  Child table_[kMost];
  std::size_t count_;
  std::uint32_t idle_;
  std::uint32_t next_number_;
};

}  // namespace sallyport::spawn::helper
