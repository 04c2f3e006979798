// A bundle on disk: what an OCI runtime starts from, in a private directory that the object's destructor removes (C16).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/view/fs_view.h"
#include "os/scratch.h"
#include "sallyport/plan.h"
#include "sallyport/result.h"

namespace sallyport::oci {

inline constexpr const char* kScratchRoot = "/tmp";  // where it is made, and swept
// Stands for the directory in the output of explain.
inline constexpr const char* kExplainedDirectory = "/tmp/sallyport-…";

struct BundleParts {
  std::string config{};
  std::vector<ViewEntry> root{};   // of render_root()
  std::string init{};              // the program at spawn::kInitPath
  std::optional<UserIds> owner{};  // the user that starts the runtime, when it is not the caller
};

// "bundle" and "state" in a new directory of kScratchRoot.
[[nodiscard]] Result<ScratchDir> make_bundle(const BundleParts& parts);

// Facts about this process that a bundle depends on.
[[nodiscard]] std::uint32_t own_umask();
[[nodiscard]] UserIds outside_of(const Plan& plan);

// For `explain`: the command, then the bundle's config.json.
[[nodiscard]] std::vector<std::string> description(std::vector<std::string> argv, const std::string& config);

}  // namespace sallyport::oci
