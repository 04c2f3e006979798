// A directory that its object's destructor removes, and what tests put into one.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "support/plain_user.h"

namespace sallyport::test {

// Made 0755 beneath the system's temporary directory, owned by `user` when one is given. The path is canonical.
class TempDir {
 public:
  explicit TempDir(const std::optional<PlainUser>& user = std::nullopt);
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

void write_file(const std::filesystem::path& path, std::string_view content);
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

// A repository with one commit (README), made by the real git; returns the commit's full name.
std::string make_git_repo(const std::filesystem::path& dir, const std::optional<PlainUser>& user = std::nullopt);

}  // namespace sallyport::test
