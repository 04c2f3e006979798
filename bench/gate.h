// What every benchmark of the library begins with: a gate that admits a few tools, and a directory of its own.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sallyport/gate.h"

namespace sallyport::bench {

// A policy that admits these tools and no other.
[[nodiscard]] std::string policy_for(const std::vector<std::string>& tools);

struct GateWishes {
  std::filesystem::path repo{};
  std::string policy{};
  std::size_t warm_jails = 0;
  std::filesystem::path more_tools{};  // a directory in front of the system's
};

// A benchmark that cannot open it has nothing to say: it ends.
[[nodiscard]] std::unique_ptr<Gate> open_gate(const GateWishes& wishes);

// Vanishes with its object.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace sallyport::bench
