// Starts a program carelessly: with our environment and descriptors, without limits or the gate. This is the positive
// control of an attack (an attack that fails here proves nothing about a jail) and has no other use: only src/attack
// may name it. It lives here because every way to start a process lives here (C1).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sallyport/result.h"

namespace sallyport::spawn {

struct CarelessStart {
  std::filesystem::path program{};
  std::vector<std::string> argv{};
  std::vector<std::string> env{};  // "NAME=value"
  std::filesystem::path cwd{};
  std::filesystem::path stdout_to{};  // appended to; unlike a pipe, a file never makes us wait for its last writer
  std::filesystem::path stderr_to{};
  int stdin_fd = -1;  // borrowed; the null device when negative
};

class CarelessProcess {
 public:
  [[nodiscard]] static Result<CarelessProcess> start(const CarelessStart& how);
  CarelessProcess(CarelessProcess&& other) noexcept;
  CarelessProcess& operator=(CarelessProcess&&) = delete;
  CarelessProcess(const CarelessProcess&) = delete;
  CarelessProcess& operator=(const CarelessProcess&) = delete;
  ~CarelessProcess();  // kills and reaps it, not what it started

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Its wait status once it has ended; nullopt when it has not by then.
  [[nodiscard]] std::optional<int> wait(std::chrono::milliseconds at_most);
  void send_signal(int number) const;

 private:
  explicit CarelessProcess(pid_t pid) : pid_(pid) {}
  pid_t pid_ = -1;
  std::optional<int> status_;
};

}  // namespace sallyport::spawn
