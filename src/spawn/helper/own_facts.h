// What an init measures itself where its owner cannot: behind a container engine, in a virtual machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sallyport::spawn::helper {

// Finds the number after "oom_kill " at the start of a line of /proc/vmstat, memory.events or memory.oom_control,
// wherever the reads split the text; 0 when there is no such line.
class OomKills {
 public:
  void add(const char* bytes, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) add(bytes[i]);
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  static constexpr char kName[] = "oom_kill ";
  static constexpr std::size_t kLength = sizeof kName - 1;

  void add(char next) {
    if (next == '\n') {
      matched_ = 0;
      other_ = false;
    } else if (other_) {
      return;
    } else if (matched_ < kLength) {
      other_ = next != kName[matched_++];
    } else if (next < '0' || next > '9') {
      other_ = true;
    } else {
      count_ = count_ * 10 + static_cast<std::uint64_t>(next - '0');
    }
  }

  std::size_t matched_ = 0;
  bool other_ = false;
  std::uint64_t count_ = 0;
};

// Reads an open file from its start; 0 when it cannot be read.
[[nodiscard]] std::uint64_t read_oom_kills(int fd);

struct FileSystemUse {
  std::uint64_t size = 0;  // bytes
  std::uint64_t bytes = 0;
  std::uint64_t files = 0;
  bool no_byte_left = false;
  bool no_file_left = false;
};

// Measures the file system that `fd` is on. False: the call failed.
[[nodiscard]] bool measure_use(int fd, FileSystemUse& use);

}  // namespace sallyport::spawn::helper
