#include "attack/world.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "attack/git_world.h"
#include "core/errors.h"
#include "os/file.h"

namespace sallyport::attack {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobodyInParticular = 12345;

std::string random_word() {
  std::array<unsigned char, 8> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return "unlucky";
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

unsigned random_number() {
  unsigned number = 0;
  if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) return 1;
  return number;
}

Status put(const fs::path& path, std::string_view content) {
  const UniqueFd fd = TRY(open_path(path, O_WRONLY | O_CREAT | O_EXCL, 0644));
  return write_all(fd.get(), content, path.native());
}

Status copy_program(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_file(from, to, error);
  if (!error) fs::permissions(to, fs::perms(0755), error);
  if (error) return fail(system_error("copy", from.native(), error.value()));
  return {};
}

Error cannot_be_shown(std::string_view why) { return invalid_request("control", why); }

// A name in a directory of the host: a tool that sees it sees the directory. Picks the entry that is unchanged for
// longest, since others may disappear meanwhile.
Result<std::string> entry_of(const fs::path& directory) {
  std::optional<std::pair<time_t, std::string>> oldest;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    struct stat about{};
    if (::lstat(entry.path().c_str(), &about) != 0) continue;
    std::pair candidate(about.st_mtim.tv_sec, entry.path().filename().string());
    if (!oldest || candidate < *oldest) oldest = std::move(candidate);
  }
  if (oldest) return std::move(oldest->second);
  return fail(cannot_be_shown(fmt::format("there is nothing to see in {}", directory.native())));
}

Result<std::string> interface_to_hide() {
  const std::string table = TRY(read_whole_file("/proc/net/dev", mebibytes(1)));
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(line.find_first_not_of(' '), colon - line.find_first_not_of(' '));
    // Tunnel devices appear in every network namespace automatically.
    if (name != "lo" && !name.starts_with("sit") && !name.starts_with("tunl") && !name.starts_with("ip6")) return name;
  }
  return fail(cannot_be_shown("this host has no network interface but the loopback"));
}

}  // namespace

Result<World> World::make(const Case& attack, const Surroundings& surroundings) {
  World world;
  world.marker_ = "m" + random_word();
  world.canary_ = "canary-" + random_word();
  world.key_ = std::to_string(random_number() % 1'000'000'000 + 1);
  TRY(world.make_directories(surroundings));
  TRY(world.make_secrets(surroundings));
  TRY(world.choose_targets(attack));
  TRY(world.choose_canary(attack));
  TRY(world.add_props(attack));
  world.victim_before_ = state_of(world.victim_);
  return world;
}

World::~World() {
  std::error_code ignored;
  if (!home_.empty()) fs::remove_all(home_, ignored);
  if (!shm_secret_.empty()) fs::remove(shm_secret_, ignored);
  if (!var_tmp_secret_.empty()) fs::remove(var_tmp_secret_, ignored);
  if (!appears_.empty() && root_) fs::remove(appears_, ignored);
  // An attacker killed in the act could not remove these itself.
  if (!marker_.empty()) {
    for (const char* directory : {"/tmp", "/var/tmp", "/dev/shm"}) {
      fs::remove(fs::path(directory) / ("sallyport-filler-" + marker_), ignored);
    }
  }
}

Status World::make_directories(const Surroundings& surroundings) {
  // In /tmp whatever TMPDIR says: it is the host's /tmp that a jail must hide.
  root_ = TRY(ScratchDir::create("/tmp"));
  repo_ = root_->path() / "repo";
  outside_ = root_->path() / "outside";
  tools_ = root_->path() / "tools";
  std::error_code error;
  for (const fs::path& path : {repo_, repo_ / "open", repo_ / "shut", outside_, tools_}) {
    fs::create_directory(path, error);
    if (error) return fail(system_error("make", path.native(), error.value()));
  }
  TRY(put(repo_ / "protected", "protected\n"));
  TRY(put(repo_ / "shut/protected", "protected\n"));
  TRY(put(outside_ / "victim", "untouched\n"));
  return copy_program(surroundings.program, tool());
}

Status World::make_secrets(const Surroundings& surroundings) {
  TRY(put(outside_ / "secret", canary_));
  std::vector<fs::path> sockets = {outside_ / "agent.sock"};
  std::error_code error;
  const fs::path home = surroundings.home / (".sallyport-attack-home-" + marker_);
  if (!surroundings.home.empty() && fs::create_directory(home, error)) {
    home_ = home;
    TRY(put(home_ / "secret", canary_));
    sockets.push_back(home_ / "docker.sock");
  }
  const fs::path shm = "/dev/shm/sallyport-attack-" + marker_;
  TRY(put(shm, canary_));
  shm_secret_ = shm;
  const fs::path var_tmp = "/var/tmp/sallyport-attack-" + marker_;
  TRY(put(var_tmp, canary_));
  var_tmp_secret_ = var_tmp;
  listeners_ = TRY(Listeners::open(sockets, marker_));
  leaked_file_ = UniqueFd(::open((outside_ / "secret").c_str(), O_RDONLY));        // NOLINT: no O_CLOEXEC
  leaked_directory_ = UniqueFd(::open(outside_.c_str(), O_RDONLY | O_DIRECTORY));  // NOLINT: is the point
  return {};
}

Status World::choose_targets(const Case& attack) {
  const std::string name = ".sallyport-attack-" + marker_;
  victim_ = outside_ / "victim";
  if (has(attack.props, Prop::kOpenCorner)) victim_ = repo_ / "protected";
  if (has(attack.props, Prop::kClosedCorner) || has(attack.props, Prop::kWorkspace)) victim_ = repo_ / "shut/protected";
  if (attack.name == "own_exe_overwritten") victim_ = tool();
  if (has(attack.props, Prop::kGitRepo)) {
    victim_ = repo_ / git_target(attack.name);
    appears_ = victim_;
    return {};
  }
  if (has(attack.props, Prop::kLinkedCorner)) {
    victim_ = repo_ / "shut/protected";
    appears_ = repo_ / "link/planted";
    return {};
  }
  if (attack.effect != Effect::kFileAppears) return {};
  const std::array places = {std::pair{"write_usr", "/usr"},          std::pair{"write_bin", "/usr/bin"},
                             std::pair{"write_etc", "/etc"},          std::pair{"write_host_tmp", "/tmp"},
                             std::pair{"write_host_shm", "/dev/shm"}, std::pair{"write_host_var_tmp", "/var/tmp"}};
  appears_ = repo_ / name;
  for (const auto& [attack_name, directory] : places) {
    if (attack.name == attack_name) appears_ = fs::path(directory) / name;
  }
  if (attack.name == "core_file") appears_ = repo_ / "core";
  return {};
}

Status World::choose_canary(const Case& attack) {
  const std::array listings = {std::pair{"read_root_home", "/root"}, std::pair{"read_homes", "/home"},
                               std::pair{"read_run", "/run"}, std::pair{"read_var_run", "/var/run/"}};
  for (const auto& [name, directory] : listings) {
    if (attack.name == name) canary_ = TRY(entry_of(directory));
  }
  if (attack.name == "stdin_path") canary_ = victim_;
  if (attack.name == "see_interfaces") canary_ = TRY(interface_to_hide());
  if (attack.name == "read_shadow") {
    struct stat about{};
    if (::stat("/etc/shadow", &about) != 0) return fail(cannot_be_shown("this host has no /etc/shadow"));
    canary_ = fmt::format("shadow of {}", about.st_size);
  }
  const bool at_home = attack.name == "read_home" || attack.name == "symlink_read_home" ||
                       attack.name == "watch_home" || attack.name == "docker_socket";
  if (at_home && home_.empty()) return fail(cannot_be_shown("the home directory cannot be written"));
  return {};
}

Status World::add_props(const Case& attack) {
  if (has(attack.props, Prop::kImpostor)) {
    fs::path place = repo_;
    if (attack.name == "planted_in_tmp") {
      place = outside_ / "world-writable";
      std::error_code error;
      fs::create_directory(place, error);
      if (!error) fs::permissions(place, fs::perms(01777), error);
    }
    impostor_ = place / kProgramName;
    TRY(copy_program(tool(), impostor_));
  }
  if (has(attack.props, Prop::kDeviceNode) && ::mknod((repo_ / "device").c_str(), S_IFCHR | 0666, makedev(1, 5)) != 0) {
    return fail(cannot_be_shown("this host lets not even root make a device node"));
  }
  if (has(attack.props, Prop::kSetuidCopy)) TRY(add_setuid_copies());
  if (has(attack.props, Prop::kTerminal)) TRY(add_terminal());
  if (has(attack.props, Prop::kGitRepo)) TRY(make_git_repo(repo_));
  if (has(attack.props, Prop::kSocketInRepo)) TRY(add_sockets());
  if (has(attack.props, Prop::kLinkedCorner)) TRY(add_links());
  if (has(attack.props, Prop::kStdinFile)) victim_fd_ = TRY(open_path(victim_, O_RDWR));
  if (attack.name == "symlink_read_tmp") {
    std::error_code error;
    fs::create_symlink(outside_ / "secret", repo_ / "to_tmp", error);
    if (error) return fail(system_error("make", (repo_ / "to_tmp").native(), error.value()));
  }
  if (has(attack.props, Prop::kEgress)) allowed_ = TRY(AllowedHost::open());
  return {};
}

Status World::add_sockets() {
  TRY(listeners_->add_unix(repo_ / "stream.sock", SOCK_STREAM));
  TRY(listeners_->add_unix(repo_ / "datagram.sock", SOCK_DGRAM));
  return listeners_->add_unix(repo_ / "seqpacket.sock", SOCK_SEQPACKET);
}

Status World::add_links() const {
  std::error_code error;
  fs::create_directory_symlink("shut", repo_ / "link", error);
  if (!error) fs::create_hard_link(repo_ / "shut/protected", repo_ / "second", error);
  if (error) return fail(cannot_be_shown("this file system knows no links"));
  return {};
}

Status World::add_setuid_copies() const {
  const fs::path setuid = repo_ / "setuid-copy";
  const fs::path capable = repo_ / "caps-copy";
  TRY(copy_program(tool(), setuid));
  TRY(copy_program(tool(), capable));
  vfs_cap_data capabilities{};
  capabilities.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
  capabilities.data[0].permitted = 1U << CAP_NET_RAW;
  const bool done = ::chown(setuid.c_str(), kNobodyInParticular, kNobodyInParticular) == 0 &&
                    ::chmod(setuid.c_str(), 04755) == 0 &&
                    ::setxattr(capable.c_str(), "security.capability", &capabilities, sizeof capabilities, 0) == 0;
  if (!done) return fail(cannot_be_shown("this file system keeps neither setuid bits nor capabilities"));
  return {};
}

Status World::add_terminal() {
  terminal_master_ = UniqueFd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  std::array<char, 64> name{};
  if (!terminal_master_ || ::unlockpt(terminal_master_.get()) != 0 ||
      ::ptsname_r(terminal_master_.get(), name.data(), name.size()) != 0) {
    return fail(cannot_be_shown("no pseudo terminal can be made here"));
  }
  terminal_slave_ = TRY(open_path(name.data(), O_RDWR | O_NOCTTY));
  return {};
}

}  // namespace sallyport::attack
