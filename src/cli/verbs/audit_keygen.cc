// sallyport audit keygen and checkpoint: a key, and the signed checkpoints it makes.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "audit/transparency.h"
#include "cli/audit_verbs.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "core/bytes/base64.h"
#include "core/bytes/ed25519.h"
#include "core/errors.h"
#include "core/json/json.h"
#include "core/parse_units.h"
#include "core/text/number.h"
#include "os/file.h"

namespace sallyport::cli {
namespace {

namespace fs = std::filesystem;

struct KeygenCommand {
  AuditPlace place{};
  std::string name{};
  std::optional<fs::path> key{};
  audit::CheckpointSettings settings{};
};

Result<audit::NoteKey> fresh_key(const std::string& name) {
  std::string seed(kEd25519KeyBytes, '\0');
  if (::getrandom(seed.data(), seed.size(), 0) != std::ssize(seed))
    return fail(system_error("get", "random bytes", errno));
  const std::optional<std::string> half = ed25519_public_key(seed);
  if (!half) return fail(system_error("make", "a key", EINVAL));
  return audit::NoteKey{.name = name, .public_key = *half, .seed = seed};
}

// Never overwrites a key: a lost key cannot be recreated.
Status write_new(const fs::path& path, std::string_view text, mode_t mode) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!fd) return fail(system_error("create", path.native(), errno, "name another file with --key FILE"));
  TRY(write_all(fd.get(), text, path.native()));
  if (::fsync(fd.get()) != 0) return fail(system_error("sync", path.native(), errno));
  return {};
}

Result<Json> generate(const KeygenCommand& command, const Environment& environment) {
  const audit::LogDirectory directory = TRY(open_own_log(command.place, environment));
  const fs::path file =
      command.key ? environment.current_directory / *command.key : directory.path() / "checkpoint.key";
  const audit::NoteKey key = TRY(fresh_key(command.name));
  const std::string public_text = audit::public_key_text(key) + "\n";
  TRY(write_new(file, audit::private_key_text(key) + "\n", 0600));
  TRY(write_new(file.native() + ".pub", public_text, 0644));
  TRY(write_new(file.native() + ".pem", audit::public_key_pem(key), 0644));
  TRY(write_file_atomically(directory.path() / "checkpoint.pub", public_text));
  audit::CheckpointSettings settings = command.settings;
  settings.key = fs::absolute(file).lexically_normal();
  for (fs::path& place : settings.copy_to) place = (environment.current_directory / place).lexically_normal();
  TRY(audit::write_checkpoint_settings(directory, settings));
  return Json{{"schema", "sallyport.audit_key/1"},
              {"key", json_text(settings.key.native())},
              {"public_key", audit::public_key_text(key)}};
}

int keygen(const KeygenCommand& command, const Environment& environment) {
  const Result<Json> made = generate(command, environment);
  if (!made) return report(made.error(), command.place.format);
  if (command.place.format == Format::kJson) return print_record(*made, kExitOk);
  return print_text(made->value("public_key", "") + "\n", kExitOk);
}

struct CheckpointCommand {
  AuditPlace place{};
};

int checkpoint(const CheckpointCommand& command, const Environment& environment) {
  const Result<audit::Checkpoint> made = [&]() -> Result<audit::Checkpoint> {
    const audit::LogDirectory directory = TRY(open_own_log(command.place, environment));
    return audit::make_checkpoint(directory);
  }();
  if (!made) return report(made.error(), command.place.format);
  const std::string root = base64(std::string(made->root.begin(), made->root.end()));
  if (command.place.format == Format::kText) {
    return print_text(fmt::format("{}\n{}\n{}\n", made->origin, made->size, root), kExitOk);
  }
  return print_record({{"schema", "sallyport.audit_checkpoint/1"},
                       {"origin", json_text(made->origin)},
                       {"size", made->size},
                       {"root", root}},
                      kExitOk);
}

Status set_key_name(KeygenCommand& command, std::string_view value) {
  if (!audit::is_key_name(value)) {
    return fail(invalid_request("name", "a key's name has neither blanks nor '+'", "e.g. --name example.org/audit"));
  }
  command.name = value;
  return {};
}
Status add_copy(KeygenCommand& command, std::string_view value) {
  command.settings.copy_to.emplace_back(value);
  return {};
}
Status set_every(KeygenCommand& command, std::string_view value) {
  const auto records = whole_number<std::uint64_t>(value);
  if (!records || *records == 0) {
    return fail(invalid_request("every", fmt::format("'{}' is not a number of records", value), "e.g. --every 256"));
  }
  command.settings.every_records = *records;
  return {};
}
Status set_interval(KeygenCommand& command, std::string_view value) {
  const std::chrono::milliseconds interval = TRY(parse_duration(value, "interval"));
  command.settings.every = std::chrono::duration_cast<std::chrono::seconds>(interval);
  return {};
}

constexpr auto kKeygenOptions =
    std::to_array<Option<KeygenCommand>>({{{"--dir", Arity::kValue}, set_place_directory<KeygenCommand>},
                                          {{"--json", Arity::kFlag}, set_place_json<KeygenCommand>},
                                          {{"--name", Arity::kValue}, set_key_name},
                                          {{"--key", Arity::kValue}, set_path<&KeygenCommand::key>},
                                          {{"--copy-to", Arity::kRepeatable}, add_copy},
                                          {{"--every", Arity::kValue}, set_every},
                                          {{"--interval", Arity::kValue}, set_interval}});
constexpr auto kCheckpointOptions =
    std::to_array<Option<CheckpointCommand>>({{{"--dir", Arity::kValue}, set_place_directory<CheckpointCommand>},
                                              {{"--json", Arity::kFlag}, set_place_json<CheckpointCommand>}});

}  // namespace

Result<Action> parse_audit_keygen(Args args, Format& format) {
  KeygenCommand command;
  if (!TRY(read_options(args, kKeygenOptions, command, format))) return Action();
  if (command.name.empty()) {
    return fail(invalid_request("name", "the log's name is missing", "e.g. --name example.org/audit"));
  }
  return [command = std::move(command)](const Environment& environment) { return keygen(command, environment); };
}

Result<Action> parse_audit_checkpoint(Args args, Format& format) {
  CheckpointCommand command;
  if (!TRY(read_options(args, kCheckpointOptions, command, format))) return Action();
  return [command = std::move(command)](const Environment& environment) { return checkpoint(command, environment); };
}

}  // namespace sallyport::cli
