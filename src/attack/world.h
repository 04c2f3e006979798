// The outside world of one attack, made fresh for each try: secrets to steal, a victim to overwrite, listeners to
// reach, descriptors left open by a careless caller. The destructor removes all of it, whatever the attack did.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attack/allowed_host.h"
#include "attack/case.h"
#include "attack/listeners.h"
#include "os/scratch.h"
#include "sallyport/container.h"
#include "sallyport/plan.h"
#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport::attack {

inline constexpr std::string_view kProgramName = "sallyport-attack";

// Where an attack takes place.
struct Surroundings {
  std::filesystem::path program{};                   // sallyport-attack
  std::filesystem::path supervisor{};                // sallyport itself: one attack kills it in the middle of a run
  std::filesystem::path home{};                      // the caller's; a hidden directory is made there and removed again
  std::vector<std::filesystem::path> search_path{};  // for a jail's own helper (bwrap)
  ContainerOptions container{};                      // of the container jail; the attacks are the host's file
};

class World {
 public:
  // Errors mean that this host cannot show the attack at all (no writable home, no interface to hide …).
  [[nodiscard]] static Result<World> make(const Case& attack, const Surroundings& surroundings);
  World(World&&) noexcept = default;
  World& operator=(World&&) = delete;
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();

  // key=value words for the attack program.
  [[nodiscard]] std::vector<std::string> arguments() const;
  // What a careless caller has in its environment.
  [[nodiscard]] std::vector<EnvVar> environment() const;

  [[nodiscard]] const std::filesystem::path& repo() const { return repo_; }
  [[nodiscard]] std::filesystem::path tool() const { return tools_ / kProgramName; }
  [[nodiscard]] const std::filesystem::path& tools() const { return tools_; }
  [[nodiscard]] const std::filesystem::path& impostor() const { return impostor_; }
  [[nodiscard]] std::filesystem::path outside(std::string_view name) const { return outside_ / name; }
  [[nodiscard]] const std::string& canary() const { return canary_; }
  [[nodiscard]] const std::string& marker() const { return marker_; }
  [[nodiscard]] const std::string& key() const { return key_; }
  // What a careless caller hands over as stdin; negative when nothing.
  [[nodiscard]] int given_stdin() const { return victim_fd_ ? victim_fd_.get() : terminal_slave_.get(); }

  // The hosts that may be reached (Prop::kEgress).
  [[nodiscard]] Result<std::vector<HostRule>> allowed_hosts(const Case& attack) const;

  [[nodiscard]] bool heard() const { return listeners_ && listeners_->heard(); }
  [[nodiscard]] bool smuggled() const { return allowed_ && allowed_->was_told(marker_); }
  [[nodiscard]] bool victim_changed() const;
  [[nodiscard]] bool file_appeared() const;
  [[nodiscard]] bool set_id_left() const;

 private:
  World() = default;
  // Content, mode, size, times and attributes: what a victim of an attack can lose.
  [[nodiscard]] static std::string state_of(const std::filesystem::path& path);
  [[nodiscard]] Status make_directories(const Surroundings& surroundings);
  [[nodiscard]] Status make_secrets(const Surroundings& surroundings);
  [[nodiscard]] Status choose_targets(const Case& attack);
  [[nodiscard]] Status choose_canary(const Case& attack);
  [[nodiscard]] Status add_props(const Case& attack);
  [[nodiscard]] Status add_setuid_copies() const;
  [[nodiscard]] Status add_sockets();
  [[nodiscard]] Status add_links() const;
  [[nodiscard]] Status add_terminal();

  std::optional<ScratchDir> root_;
  std::filesystem::path repo_, outside_, tools_, home_, shm_secret_, var_tmp_secret_, victim_, appears_, impostor_;
  std::string canary_, marker_, key_, victim_before_;
  std::optional<Listeners> listeners_;
  std::unique_ptr<AllowedHost> allowed_;
  UniqueFd leaked_file_, leaked_directory_;  // inheritable on purpose
  UniqueFd terminal_master_, terminal_slave_, victim_fd_;
};

}  // namespace sallyport::attack
