#include "jails/container/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/errors.h"
#include "core/json/json.h"
#include "core/json/lookup.h"
#include "core/text/printable.h"
#include "core/view/paths.h"

namespace sallyport::container {
namespace {

constexpr std::string_view kSha256 = "sha256:";
constexpr std::string_view kUsualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

bool is_hex(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_digest(std::string_view text) { return text.starts_with(kSha256) && is_hex(text.substr(kSha256.size())); }

std::string path_in(const Json& config) {
  constexpr std::string_view kPath = "PATH=";
  for (const Json& var : items_in(config, "Env")) {
    const std::string text = var.is_string() ? var.get<std::string>() : std::string();
    if (text.starts_with(kPath) && text.size() > kPath.size()) return text.substr(kPath.size());
  }
  return std::string(kUsualPath);
}

template <class Use>
void for_each_directory(std::string_view path, const Use& use) {
  while (!path.empty()) {
    const std::size_t end = std::min(path.find(':'), path.size());
    const std::string_view directory = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (directory.starts_with('/')) use(directory);
  }
}

Error wrong_image(const ContainerOptions& options, std::string_view why) {
  return jail_unavailable(
      kContainerJail, fmt::format("{}: {}", printable(options.image), why),
      fmt::format("'{} image ls --digests' shows what is there; nothing is pulled", program_of(options.engine)));
}

// nullopt when the engine has no image of that name.
Result<std::optional<Image>> inspect(const Engine& engine, const ContainerOptions& options, const std::string& name) {
  // After "--", so that no name can be an option.
  const Answer answer = TRY(engine.ask({"image", "inspect", "--", name}));
  if (answer.agreed) return std::optional(TRY(parse_image(answer.out)));
  const bool is_unknown = answer.err.find("o such image") != std::string::npos ||
                          answer.err.find("image not known") != std::string::npos ||
                          answer.err.find("inspecting object") != std::string::npos;
  if (is_unknown) return std::optional<Image>();
  return fail(wrong_image(options, printable(answer.why())));
}

}  // namespace

Result<Image> parse_image(std::string_view text) {
  const Json all = Json::parse(text, nullptr, false);
  const Json& first = all.is_array() && all.size() == 1 ? all.front() : member(all, "");
  const Json& config = member(first, "Config");
  Image image{.id = text_in(first, "Id"), .path = path_in(config)};
  if (is_hex(image.id)) image.id.insert(0, kSha256);
  if (!is_digest(image.id)) return fail(jail_unavailable(kContainerJail, "the engine's answer names no image"));
  const Json& volumes = member(config, "Volumes");
  image.has_volumes = volumes.is_object() && !volumes.empty();
  image.digests.push_back(image.id);
  if (is_digest(text_in(first, "Digest"))) image.digests.push_back(text_in(first, "Digest"));
  for (const Json& one : items_in(first, "RepoDigests")) {
    const std::string name = one.is_string() ? one.get<std::string>() : std::string();
    if (const std::string_view digest = digest_in(name); !digest.empty()) image.digests.emplace_back(digest);
  }
  return image;
}

std::string_view digest_in(std::string_view name) {
  const std::size_t at = name.rfind('@');
  const std::string_view digest = at == std::string_view::npos ? name : name.substr(at + 1);
  return is_digest(digest) ? digest : std::string_view();
}

Result<Image> find_image(const Engine& engine, const ContainerOptions& options) {
  if (options.image.empty() || options.image.front() == '-') {
    return fail(jail_unavailable(kContainerJail, "no image was named",
                                 "name one with `container.image`, best by its digest: NAME@sha256:…"));
  }
  const std::string_view digest = digest_in(options.image);
  std::optional<Image> image = TRY(inspect(engine, options, options.image));
  const std::size_t at = options.image.rfind('@');
  // The name may carry the image's own digest, which no registry knows.
  if (!image && !digest.empty() && at != std::string::npos) {
    image = TRY(inspect(engine, options, options.image.substr(0, at)));
  }
  if (!image) return fail(wrong_image(options, "the engine has no such image"));
  if (digest.empty()) return *std::move(image);
  if (std::ranges::find(image->digests, digest) != image->digests.end()) return *std::move(image);
  return fail(wrong_image(options, fmt::format("the engine's has another digest, {}", image->digests.back())));
}

std::string path_without(std::string_view path, const std::vector<std::string>& places) {
  std::string left;
  for_each_directory(path, [&](std::string_view directory) {
    const bool is_callers =
        std::ranges::any_of(places, [&](const std::string& place) { return is_inside(std::string(directory), place); });
    if (!is_callers) left += fmt::format("{}{}", left.empty() ? "" : ":", directory);
  });
  return left;
}

std::vector<std::string> places_of_tool(std::string_view path, std::string_view tool) {
  std::vector<std::string> places;
  for_each_directory(path,
                     [&](std::string_view directory) { places.push_back(fmt::format("{}/{}", directory, tool)); });
  return places;
}

}  // namespace sallyport::container
