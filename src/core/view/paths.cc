#include "core/view/paths.h"

namespace sallyport {

bool is_inside(PathText path, PathText root) {
  std::string_view base = root.text();
  while (base.ends_with('/')) base.remove_suffix(1);  // "/" becomes the empty text, with which every path begins
  const std::string_view whole = path.text();
  if (!whole.starts_with(base)) return false;
  return whole.size() == base.size() || whole[base.size()] == '/';
}

}  // namespace sallyport
