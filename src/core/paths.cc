#include "core/paths.h"

#include <algorithm>

namespace sallyport {

bool is_inside(const std::filesystem::path& path, const std::filesystem::path& root) {
  // "/a/" has an empty last component, which would match nothing.
  const std::filesystem::path base = root.has_filename() ? root : root.parent_path();
  return std::ranges::mismatch(base, path).in1 == base.end();
}

}  // namespace sallyport
