// For tests only: a directory of its own, removed at the end.
#pragma once

#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace sallyport {

class TestDir {
 public:
  TestDir() : TestDir(std::filesystem::temp_directory_path()) {}
  explicit TestDir(const std::filesystem::path& parent) {
    std::string name = (parent / "sp-test-XXXXXX").native();
    if (::mkdtemp(name.data()) == nullptr) {
      ::perror(name.c_str());
      std::abort();  // a test without its directory shows nothing
    }
    path_ = name;
  }
  TestDir(const TestDir&) = delete;
  TestDir& operator=(const TestDir&) = delete;
  ~TestDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

  // A file with this content and exactly this mode, parents included.
  std::filesystem::path file(std::string_view name, std::string_view content, mode_t mode = 0644) const {
    const std::filesystem::path target = path_ / name;
    make_parents(target);
    std::ofstream(target, std::ios::binary) << content;
    ::chmod(target.c_str(), mode);
    return target;
  }
  std::filesystem::path directory(std::string_view name, mode_t mode = 0755) const {
    const std::filesystem::path target = path_ / name;
    make_parents(target);
    ::mkdir(target.c_str(), 0755);
    ::chmod(target.c_str(), mode);
    return target;
  }

 private:
  void make_parents(const std::filesystem::path& target) const {
    std::filesystem::path at = path_;
    for (const auto& part : target.parent_path().lexically_relative(path_)) {
      at /= part;
      ::mkdir(at.c_str(), 0755);
    }
  }

  std::filesystem::path path_;
};

}  // namespace sallyport
