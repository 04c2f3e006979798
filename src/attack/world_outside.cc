// What a run in a world gets, and what its attack left behind there.
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <fstream>
#include <sstream>
#include <system_error>

#include "attack/world.h"

namespace sallyport::attack {

namespace {
namespace fs = std::filesystem;

// No two kernels that ever ran have the same (random(4)).
std::string boot_of_this_kernel() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace

std::string World::state_of(const fs::path& path) {
  struct stat about{};
  if (::stat(path.c_str(), &about) != 0) return "gone";
  std::ifstream file(path, std::ios::binary);
  std::string head(64, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  return fmt::format("{:o} {} {} {} {}", about.st_mode, about.st_size, about.st_mtime,
                     ::listxattr(path.c_str(), nullptr, 0), head);
}

std::vector<std::string> World::arguments() const {
  return {"marker=" + marker_,
          "repo=" + repo_.native(),
          "home_secret=" + (home_ / "secret").native(),
          "tmp_secret=" + (outside_ / "secret").native(),
          "shm_secret=" + shm_secret_.native(),
          "var_tmp_secret=" + var_tmp_secret_.native(),
          "victim=" + victim_.native(),
          "appears=" + appears_.native(),
          "tcp=" + std::to_string(listeners_->tcp_port()),
          "udp=" + std::to_string(listeners_->udp_port()),
          "allowed=" + std::to_string(allowed_ ? allowed_->port() : 0),
          "abstract=@" + marker_,
          "home_socket=" + (home_ / "docker.sock").native(),
          "tmp_socket=" + (outside_ / "agent.sock").native(),
          "impostor=" + impostor_.native(),
          "key=" + key_,
          "boot=" + boot_of_this_kernel()};
}

Result<std::vector<HostRule>> World::allowed_hosts(const Case& attack) const {
  std::vector<HostRule> rules;
  if (!allowed_) return rules;
  const std::string target = fmt::format("127.0.0.1:{}", allowed_->port());
  rules.push_back(TRY(parse_host_rule(fmt::format("{}={}", kAllowedName, target))));
  // A port that a rule names: there other protocols to the allowed host are allowed too.
  if (attack.name.starts_with("named_")) {
    rules.push_back(TRY(parse_host_rule(fmt::format("{}:4873={}", kAllowedName, target))));
  }
  const std::uint16_t forbidden = listeners_->tcp_port();
  // A port that is open to the allowed host, at which another server listens here.
  if (attack.name == "egress_allowed_port" || attack.name == "refusal_hangs" ||
      attack.name == "refused_connect_stands") {
    rules.push_back(TRY(parse_host_rule(fmt::format("{}:{}={}", kAllowedName, forbidden, target))));
  }
  return rules;
}

std::vector<EnvVar> World::environment() const {
  std::vector<EnvVar> env = {{"PATH", "/usr/bin:/bin"}, {"HOME", home_.parent_path()}};
  for (const char* name :
       {"SSH_AUTH_SOCK", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"}) {
    env.push_back({name, canary_});
  }
  return env;
}

bool World::victim_changed() const { return state_of(victim_) != victim_before_; }

bool World::file_appeared() const {
  std::error_code error;
  if (appears_.filename() != "core") return fs::exists(appears_, error);
  // The kernel may add the process's number to the name.
  for (const fs::directory_entry& entry : fs::directory_iterator(repo_, error)) {
    if (entry.path().filename().string().starts_with("core")) return true;
  }
  return false;
}

bool World::set_id_left() const {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(repo_, error)) {
    struct stat about{};
    if (::lstat(entry.path().c_str(), &about) != 0) continue;
    if ((about.st_mode & (S_ISUID | S_ISGID)) != 0 || S_ISCHR(about.st_mode) || S_ISBLK(about.st_mode)) return true;
    if (::lgetxattr(entry.path().c_str(), "security.capability", nullptr, 0) > 0) return true;
  }
  return false;
}

}  // namespace sallyport::attack
