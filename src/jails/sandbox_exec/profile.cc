#include "jails/sandbox_exec/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "core/view/paths.h"

namespace sallyport::sandbox_exec {
namespace {

// Everything that does not depend on the run. The system services and kernel variables are those that node and git use.
// kern.proc and similar ones are left out: they show other processes. The tool can use only a terminal that the run
// made, so that it cannot type into the caller's.
constexpr std::string_view kFixed = R"sbpl((version 1)
(deny default (with message "sallyport"))
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read
  (sysctl-name-prefix "hw.")
  (sysctl-name "kern.argmax")
  (sysctl-name "kern.hostname")
  (sysctl-name "kern.maxfilesperproc")
  (sysctl-name "kern.ngroups")
  (sysctl-name "kern.osproductversion")
  (sysctl-name "kern.osrelease")
  (sysctl-name "kern.ostype")
  (sysctl-name "kern.osversion")
  (sysctl-name "kern.secure_kernel")
  (sysctl-name "kern.usrstack64")
  (sysctl-name "kern.version")
  (sysctl-name "sysctl.proc_cputype")
  (sysctl-name "vm.loadavg"))
(allow sysctl-write (sysctl-name "kern.tcsm_enable"))
(allow mach-lookup
  (global-name "com.apple.bsd.dirhelper")
  (global-name "com.apple.logd")
  (global-name "com.apple.system.logger")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership"))
(deny mach-lookup
  (global-name "com.apple.SecurityServer")
  (global-name "com.apple.keychaind")
  (global-name "com.apple.secd")
  (global-name "com.apple.securityd"))
(allow file-read* (literal "/"))
(allow file-read-metadata (literal "/etc") (literal "/tmp") (literal "/var"))
(allow file-read* file-map-executable process-exec*
  (subpath "/Library/Developer/CommandLineTools")
  (subpath "/System/Library")
  (subpath "/System/Volumes/Preboot/Cryptexes")
  (subpath "/bin")
  (subpath "/opt/homebrew")
  (subpath "/usr/bin")
  (subpath "/usr/lib")
  (subpath "/usr/libexec")
  (subpath "/usr/local")
  (subpath "/usr/share"))
(allow file-read*
  (subpath "/private/etc")
  (subpath "/private/var/db/dyld")
  (subpath "/private/var/db/timezone")
  (subpath "/private/var/select"))
(allow file-read* file-write-data file-ioctl
  (literal "/dev/null")
  (literal "/dev/random")
  (literal "/dev/urandom")
  (literal "/dev/zero"))
(allow pseudo-tty)
(allow file-read* file-write-data file-ioctl (literal "/dev/ptmx"))
(allow file-read* file-write-data file-ioctl
  (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))
)sbpl";

// These hold whatever other rules open: a specific deny overrides an allow of all of file-write*.
constexpr std::string_view kNever = R"sbpl((deny file-write-setugid)
(deny file-write-create (vnode-type BLOCK-DEVICE CHARACTER-DEVICE))
)sbpl";

using Access = Place::Access;

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

class Rules {
 public:
  explicit Rules(std::vector<Place> places) : places_(std::move(places)) {
    for (const Place& place : places_) name_of(place.path, prefix_of(place.access));
  }

  [[nodiscard]] Profile take() && {
    profile_.text = std::string(kFixed);
    for (const Place& place : places_) {
      if (place.access == Access::kHidden) continue;
      open(place, "file-read*", [](const Place& inside) { return inside.access == Access::kHidden; });
      if (!place.no_exec) open(place, "file-map-executable process-exec*", closed_to_programs);
      if (place.access == Access::kWrite) {
        open(place, "file-write*", [](const Place& inside) { return inside.access != Access::kWrite; });
      }
    }
    name_directories_above();
    profile_.text += kNever;
    return std::move(profile_);
  }

 private:
  static bool closed_to_programs(const Place& inside) { return inside.access == Access::kHidden || inside.no_exec; }

  static std::string_view prefix_of(Access access) {
    switch (access) {
      case Access::kWrite:
        return "W";
      case Access::kRead:
        return "R";
      case Access::kHidden:
        break;
    }
    return "H";
  }

  std::string name_of(const std::string& path, std::string_view prefix) {
    const auto known = std::ranges::find(profile_.parameters, path, &Parameter::value);
    if (known != profile_.parameters.end()) return known->name;
    profile_.parameters.push_back({fmt::format("{}{}", prefix, profile_.parameters.size()), path});
    return profile_.parameters.back().name;
  }

  std::string filter_of(const Place& place) {
    return fmt::format("({} (param \"{}\"))", place.is_directory ? "subpath" : "literal",
                       name_of(place.path, prefix_of(place.access)));
  }

  template <class IsClosed>
  void open(const Place& place, std::string_view operations, IsClosed is_closed) {
    std::string exceptions;
    for (const Place& inside : places_) {
      const bool is_hole = inside.path != place.path && is_inside(inside.path, place.path) && is_closed(inside);
      if (is_hole) exceptions += fmt::format("\n    (require-not {})", filter_of(inside));
    }
    profile_.text += exceptions.empty() ? fmt::format("(allow {} {})\n", operations, filter_of(place))
                                        : fmt::format("(allow {}\n  (require-all\n    {}{}))\n", operations,
                                                      filter_of(place), exceptions);
  }

  // The tool can use a path only if it can stat each directory above it, and the path is stable only if none of these
  // directories can be moved.
  void name_directories_above() {
    std::set<std::string> above;
    std::set<std::string> kept;
    for (const Place& place : places_) {
      kept.insert(place.path);
      for (std::string path = parent_of(place.path); path != "/"; path = parent_of(path)) {
        above.insert(path);
        kept.insert(path);
      }
    }
    if (!above.empty()) list("(allow file-read-metadata", above);
    list("(deny file-write-unlink", kept);
  }

  void list(std::string_view head, const std::set<std::string>& paths) {
    profile_.text += head;
    for (const std::string& path : paths) {
      profile_.text += fmt::format("\n  (literal (param \"{}\"))", name_of(path, "A"));
    }
    profile_.text += ")\n";
  }

  const std::vector<Place> places_;
  Profile profile_;
};

// Of two entries for one path the later one counts, as with mounts.
void put(std::vector<Place>& places, Place place) {
  std::erase_if(places, [&](const Place& other) { return other.path == place.path; });
  places.push_back(std::move(place));
}

bool lies_in_one(const std::vector<Place>& places, const std::string& path) {
  return std::ranges::any_of(places, [&](const Place& place) { return is_inside(path, place.path); });
}

// A hidden path stays hidden; and where nothing is shown there is nothing to hide (the names below /work).
void hide(std::vector<Place>& places, const ViewEntry& mask) {
  if (!lies_in_one(places, mask.target)) return;
  std::erase_if(places, [&](const Place& place) { return is_inside(place.path, mask.target); });
  places.push_back({.path = mask.target, .access = Access::kHidden, .is_directory = mask.source_is_directory});
}

}  // namespace

std::vector<Place> places_of(const Inputs& inputs) {
  std::vector<Place> places;
  for (const ViewEntry& entry : inputs.view) {
    // In a view the base describes Linux's root; on macOS kFixed replaces it.
    if (entry.of_base) continue;
    if (entry.kind == ViewKind::kMask) hide(places, entry);
    // A second name, such as /work, needs a mount.
    if (entry.kind != ViewKind::kBind || entry.target != entry.source) continue;
    put(places, {.path = entry.source,
                 .access = entry.access == RepoAccess::kWritable ? Access::kWrite : Access::kRead,
                 .is_directory = entry.source_is_directory,
                 .no_exec = entry.no_exec});
  }
  for (const char* own : {"/home", "/tmp"}) {
    put(places, {.path = inputs.private_dir + own, .access = Access::kWrite});
  }
  // If a place already covers one of them, that entry stays.
  for (const std::string& program : {inputs.init, inputs.executable}) {
    if (!lies_in_one(places, program)) places.push_back({.path = program, .is_directory = false});
  }
  return places;
}

Profile render(const Inputs& inputs) {
  Profile profile = Rules(places_of(inputs)).take();
  if (inputs.proxy_port) {
    profile.text += fmt::format("(allow network-outbound (remote ip \"localhost:{}\"))\n", *inputs.proxy_port);
  }
  return profile;
}

std::vector<std::string> render_argv(const std::string& launcher, const Profile& profile,
                                     const std::vector<std::string>& command) {
  std::vector<std::string> argv = {launcher, "-p", profile.text};
  for (const Parameter& parameter : profile.parameters) {
    argv.emplace_back("-D");
    argv.push_back(parameter.name + "=" + parameter.value);
  }
  argv.insert(argv.end(), command.begin(), command.end());
  return argv;
}

}  // namespace sallyport::sandbox_exec
