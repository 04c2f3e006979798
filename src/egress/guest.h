// A connection that was let in.
#pragma once

#include "egress/loop.h"

namespace sallyport {

class Guest : public Watcher {
 public:
  virtual void start() = 0;
  // What is there to be moved is moved; nothing is waited for.
  virtual void last_round() = 0;
};

}  // namespace sallyport
