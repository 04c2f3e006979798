// A sign of life on a terminal while a tool is silent: elapsed time and memory, on stderr, on a line that is cleared
// before anything else is printed. Prints nothing when stderr is no terminal.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "cli/outlet.h"

namespace sallyport::cli {

class Spinner {
 public:
  explicit Spinner(std::string tool);
  ~Spinner();
  Spinner(const Spinner&) = delete;
  Spinner& operator=(const Spinner&) = delete;

  // Call before printing anything: then the tool is not silent.
  void hide();

 private:
  void turn();
  void wipe_locked();

  std::string tool_;
  Outlet outlet_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  bool shown_ = false;
  std::chrono::steady_clock::time_point quiet_since_ = begin_;
  std::jthread thread_;
};

// The line of a spinner.
[[nodiscard]] std::string spinner_text(std::string_view tool, std::chrono::seconds elapsed, std::uint64_t resident,
                                       unsigned turn);

}  // namespace sallyport::cli
