#include "jobs/validate/lockfile.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "jobs/report/bounded_json.h"

namespace sallyport::jobs {
namespace {

constexpr std::string_view kModules = "node_modules/";

std::string text_of(const InJson& object, std::string_view name) {
  const std::string* const text = string_member(object, name);
  return text == nullptr ? std::string() : *text;
}

bool flag_of(const InJson& object, std::string_view name) {
  const InJson* const value = member(object, name);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

const InJson* object_member(const InJson& object, std::string_view name) {
  const InJson* const value = member(object, name);
  return value != nullptr && value->is_object() ? value : nullptr;
}

void add_wants(const InJson& object, std::string_view name, Wants& wants) {
  const InJson* const list = object_member(object, name);
  if (list == nullptr) return;
  for (const auto& [package, range] : list->items()) {
    wants[package] = range.is_string() ? range.get<std::string>() : std::string("(no text)");
  }
}

WantedPackages wanted_of(const InJson& object) {
  WantedPackages wanted;
  add_wants(object, "dependencies", wanted.dependencies);
  add_wants(object, "optionalDependencies", wanted.dependencies);
  add_wants(object, "devDependencies", wanted.dev);
  add_wants(object, "peerDependencies", wanted.peer);
  return wanted;
}

// npm names a single program after the package.
std::vector<std::string> programs_of(const InJson& entry, std::string_view name) {
  std::vector<std::string> programs;
  const InJson* const bin = member(entry, "bin");
  if (bin == nullptr) return programs;
  if (bin->is_string()) programs.emplace_back(name.substr(name.rfind('/') + 1));
  if (!bin->is_object()) return programs;
  for (const auto& [program, file] : bin->items()) programs.push_back(program);
  return programs;
}

std::string name_in_path(std::string_view path) {
  const std::size_t at = path.rfind(kModules);
  return std::string(at == std::string_view::npos ? path : path.substr(at + kModules.size()));
}

constexpr std::string_view kAlias = "npm:";

using Aliases = std::set<std::pair<std::string, std::string>>;

// "x": "npm:@s/y@^1" is y under the name x. Overrides nest; the depth is that of the JSON, which is bounded.
void add_aliases(const InJson& list, Aliases& aliases) {
  for (const auto& [name, range] : list.items()) {
    if (range.is_object()) add_aliases(range, aliases);
    if (!range.is_string()) continue;
    std::string spec = range.get<std::string>();
    if (!spec.starts_with(kAlias)) continue;
    spec.erase(0, kAlias.size());
    if (const std::size_t at = spec.find('@', 1); at != std::string::npos) spec.resize(at);
    aliases.emplace(name.substr(0, name.find('@', 1)), std::move(spec));
  }
}

void add_aliases_of(const InJson& package, Aliases& aliases) {
  for (const char* kind :
       {"dependencies", "optionalDependencies", "devDependencies", "peerDependencies", "overrides"}) {
    if (const InJson* const list = object_member(package, kind)) add_aliases(*list, aliases);
  }
}

bool has_bundle(const InJson& entry) {
  for (const char* name : {"bundleDependencies", "bundledDependencies"}) {
    const InJson* const bundle = member(entry, name);
    if (bundle != nullptr && ((bundle->is_array() && !bundle->empty()) || flag_of(entry, name))) return true;
  }
  return false;
}

// npm trusts "inBundle" only for a package below another one. If that one bundles nothing, or the package is in the
// project's own bundle or has a URL, npm fetches it like any other.
bool is_bundled(const LockedPackage& package, const std::set<std::string>& bundlers) {
  if (!package.in_bundle || !package.resolved.empty()) return false;
  constexpr std::string_view kBelow = "/node_modules/";
  for (std::size_t at = package.path.find(kBelow); at != std::string::npos; at = package.path.find(kBelow, at + 1)) {
    if (bundlers.contains(package.path.substr(0, at))) return true;
  }
  return false;
}

std::expected<void, std::string> read_packages(const InJson& packages, Lockfile& lock) {
  std::set<std::string> bundlers;
  for (const auto& [path, entry] : packages.items()) {
    if (!entry.is_object()) return std::unexpected("the entry of \"" + path + "\" is no object");
    add_aliases_of(entry, lock.aliases);
    if (path.contains(kModules) && has_bundle(entry)) bundlers.insert(path);
    if (path.empty()) {
      lock.wanted = wanted_of(entry);
      continue;
    }
    std::string name = text_of(entry, "name");
    if (name.empty()) name = name_in_path(path);
    LockedPackage package{.path = path,
                          .name = name,
                          .version = text_of(entry, "version"),
                          .resolved = text_of(entry, "resolved"),
                          .integrity = text_of(entry, "integrity"),
                          .programs = programs_of(entry, name),
                          .has_install_script = flag_of(entry, "hasInstallScript"),
                          .in_bundle = flag_of(entry, "inBundle"),
                          .is_link = flag_of(entry, "link"),
                          .installed_as = name_in_path(path),
                          .has_own_lock = flag_of(entry, "hasShrinkwrap")};
    lock.packages.push_back(std::move(package));
  }
  for (LockedPackage& package : lock.packages) package.in_bundle = is_bundled(package, bundlers);
  return {};
}

bool is_source_not_version(std::string_view version) { return version.find(':') != std::string_view::npos; }

// Version 1 nests, and writes a source that is no registry where the version belongs. The depth is that of the JSON, which
// is bounded.
std::expected<void, std::string> read_dependencies(const InJson& dependencies, const std::string& above,
                                                   Lockfile& lock) {
  for (const auto& [name, entry] : dependencies.items()) {
    if (!entry.is_object()) return std::unexpected("the entry of \"" + name + "\" is no object");
    LockedPackage package{.path = above + std::string(kModules) + name,
                          .name = name,
                          .version = text_of(entry, "version"),
                          .resolved = text_of(entry, "resolved"),
                          .integrity = text_of(entry, "integrity"),
                          .programs = {},
                          .has_install_script = false,
                          .in_bundle = flag_of(entry, "bundled") && !above.empty()};
    if (!package.resolved.empty()) package.in_bundle = false;
    if (package.version.starts_with(kAlias)) {  // "npm:@s/y@1.0.0"
      const std::size_t at = package.version.find('@', kAlias.size() + 1);
      package.installed_as = name;
      package.name = package.version.substr(kAlias.size(), at - kAlias.size());
      package.version = at == std::string::npos ? std::string() : package.version.substr(at + 1);
    }
    if (const InJson* const requires_list = object_member(entry, "requires")) add_aliases(*requires_list, lock.aliases);
    if (package.resolved.empty() && is_source_not_version(package.version)) package.resolved = package.version;
    const std::string below = package.path + "/";
    lock.packages.push_back(std::move(package));
    const InJson* const inner = object_member(entry, "dependencies");
    if (inner == nullptr) continue;
    if (auto read = read_dependencies(*inner, below, lock); !read) return read;
  }
  return {};
}

constexpr std::uint32_t kFirstWithPackages = 2;

void add_what_differs(std::vector<LockedPackage> more, std::vector<LockedPackage>& packages) {
  std::set<std::tuple<std::string, std::string, std::string>> known;
  for (const LockedPackage& one : packages) known.emplace(one.path, one.resolved, one.integrity);
  std::set<std::string> local;  // written as "file:…" in the older list
  for (const LockedPackage& one : packages) {
    if (one.is_link || one.in_bundle) local.insert(one.path);
  }
  for (LockedPackage& one : more) {
    const bool same = known.contains({one.path, one.resolved, one.integrity}) ||
                      (local.contains(one.path) && (one.in_bundle || one.resolved.starts_with("file:")));
    if (!same) packages.push_back(std::move(one));
  }
}

}  // namespace

std::expected<Lockfile, std::string> parse_lockfile(std::string_view text) {
  const auto json = parse_bounded(text);
  if (!json) return std::unexpected(json.error());
  if (!json->is_object()) return std::unexpected("it is no JSON object");
  const auto version = number_member(*json, "lockfileVersion");
  if (!version) return std::unexpected("it has no lockfileVersion");
  if (*version < 1 || *version > 3) {
    return std::unexpected("lockfileVersion " + std::to_string(*version) + " is not one of 1, 2, 3");
  }
  Lockfile lock{.version = *version};
  const InJson* const packages = member(*json, "packages");
  if (packages != nullptr && !packages->is_object()) return std::unexpected("its packages are no object");
  if (*version > 1 && packages == nullptr) return std::unexpected("it has no packages");
  // npm uses the lists that exist, not the version number: with `packages`, the other list is only for older npm.
  if (packages != nullptr) {
    lock.version = std::max(*version, kFirstWithPackages);
    if (auto read = read_packages(*packages, lock); !read) return std::unexpected(read.error());
  }
  if (const InJson* const dependencies = object_member(*json, "dependencies")) {
    Lockfile older;
    if (auto read = read_dependencies(*dependencies, "", older); !read) return std::unexpected(read.error());
    add_what_differs(std::move(older.packages), lock.packages);
    lock.aliases.merge(older.aliases);
  }
  std::ranges::sort(lock.packages, {}, &LockedPackage::path);
  return lock;
}

std::expected<Manifest, std::string> parse_manifest(std::string_view text) {
  // Some editors add it, and npm accepts it.
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const auto json = parse_bounded(text);
  if (!json) return std::unexpected(json.error());
  if (!json->is_object()) return std::unexpected("it is no JSON object");
  Manifest manifest{
      .name = text_of(*json, "name"), .package_manager = text_of(*json, "packageManager"), .wanted = wanted_of(*json)};
  if (const InJson* const scripts = object_member(*json, "scripts")) {
    for (const auto& [name, script] : scripts->items()) manifest.scripts.push_back(name);
  }
  add_aliases_of(*json, manifest.aliases);
  const InJson* workspaces = member(*json, "workspaces");
  if (workspaces != nullptr && workspaces->is_object()) workspaces = member(*workspaces, "packages");
  if (workspaces != nullptr && workspaces->is_array()) {
    for (const InJson& pattern : *workspaces) {
      if (pattern.is_string()) manifest.workspaces.push_back(pattern.get<std::string>());
    }
  }
  return manifest;
}

bool is_fetched(const LockedPackage& package) {
  if (package.in_bundle || package.is_link) return false;
  return package.path.find(kModules) != std::string::npos;
}

}  // namespace sallyport::jobs
