// Comparing canonical paths.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace sallyport {

// A view of any path type, without a copy: splitting a std::filesystem::path into its components costs more than the
// comparison, and a start makes hundreds of comparisons.
class PathText {
 public:
  PathText(const std::filesystem::path& path) : text_(path.native()) {}  // NOLINT(google-explicit-constructor)
  PathText(const std::string& path) : text_(path) {}                     // NOLINT(google-explicit-constructor)
  PathText(std::string_view path) : text_(path) {}                       // NOLINT(google-explicit-constructor)
  PathText(const char* path) : text_(path) {}                            // NOLINT(google-explicit-constructor)

  [[nodiscard]] std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

// True when `path` is `root` or lies beneath it, by components: "/a/bc" is not inside "/a/b". Both canonical.
[[nodiscard]] bool is_inside(PathText path, PathText root);

}  // namespace sallyport
