// A connection that was let in.
#pragma once

#include "egress/loop.h"

namespace sallyport {

class Guest : public Watcher {
 public:
  virtual void start() = 0;
  // Moves the bytes that are there, without waiting.
  virtual void last_round() = 0;
};

}  // namespace sallyport
