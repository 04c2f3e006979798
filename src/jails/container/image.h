// An image of a container engine: which one a name means, and the parts of its configuration that matter here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jails/container/engine.h"
#include "sallyport/result.h"

namespace sallyport::container {

struct Image {
  std::string id{};    // "sha256:…", the digest of its configuration, which names every layer by its digest
  std::string path{};  // the PATH it sets, or the usual one
  bool has_volumes = false;
  std::vector<std::string> digests{};  // repository digests, without the name: "sha256:…"
};

// Parses what `image inspect` prints. The image's maker chose most of it.
[[nodiscard]] Result<Image> parse_image(std::string_view text);

// Returns "sha256:…", after an '@' or alone; empty when the name has no digest.
[[nodiscard]] std::string_view digest_in(std::string_view name);

// Asks the engine. JailUnavailable when it has no image of that name, or one with another digest.
[[nodiscard]] Result<Image> find_image(const Engine& engine, const ContainerOptions& options);

// The directories of `path` that only the image can have filled: those not at or below one of `places`.
[[nodiscard]] std::string path_without(std::string_view path, const std::vector<std::string>& places);
[[nodiscard]] std::vector<std::string> places_of_tool(std::string_view path, std::string_view tool);

}  // namespace sallyport::container
