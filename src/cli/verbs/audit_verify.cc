// sallyport audit verify
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "audit/prove.h"
#include "audit/verify.h"
#include "cli/audit_verbs.h"
#include "cli/command_line.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/option_table.h"
#include "core/json/json.h"
#include "core/text/printable.h"
#include "os/file.h"

namespace sallyport::cli {
namespace {

namespace fs = std::filesystem;

struct VerifyCommand {
  AuditPlace place{};
  std::vector<fs::path> checkpoints{};
  std::optional<std::string> key{};
};

Result<audit::VerifyOptions> verify_options(const VerifyCommand& command, const audit::LogDirectory& directory,
                                            const Environment& environment) {
  audit::VerifyOptions options;
  if (command.key) options.key = TRY(key_named(*command.key, environment));
  for (const fs::path& file : command.checkpoints) {
    const audit::NoteKey key = options.key ? *options.key : TRY(audit::own_public_key(directory));
    const std::string note = TRY(read_named_file(environment.current_directory / file, mebibytes(1)));
    options.kept.push_back(TRY(audit::open_checkpoint(note, key)));
  }
  return options;
}

Json json_of_verification(const audit::Verification& found) {
  Json json = {{"schema", "sallyport.audit_verify/1"},
               {"whole", !found.problem.has_value()},
               {"records", found.records},
               {"files", found.files},
               {"bytes", found.bytes},
               {"intents", found.intents},
               {"results", found.results},
               {"refusals", found.refusals},
               {"jobs", found.jobs},
               {"recoveries", found.recoveries},
               {"open_intents", found.open_intents},
               {"open_runs", found.open_runs},
               {"clock_went_back", found.clock_went_back},
               {"torn_bytes", found.torn_bytes},
               {"last_hash", found.last_hash},
               {"checkpoints", found.checkpoints},
               {"notes", found.notes},
               {"problem", nullptr}};
  if (found.problem) {
    json["problem"] = {{"file", json_text(found.problem->file)},
                       {"line", found.problem->line},
                       {"seq", found.problem->seq},
                       {"why", json_text(found.problem->why)}};
  }
  return json;
}

std::string text_of_verification(const audit::Verification& found, const fs::path& directory) {
  std::string text;
  if (found.problem) {
    const audit::Problem& problem = *found.problem;
    const std::string place = problem.line == 0 ? problem.file : fmt::format("{}:{}", problem.file, problem.line);
    text += printable(fmt::format("{}/{}: record {}: {}", directory.native(), place, problem.seq, problem.why)) + "\n";
  } else {
    text += fmt::format("whole: {} records in {} file{}, {} bytes\n", found.records, found.files,
                        found.files == 1 ? "" : "s", found.bytes);
    text += fmt::format("{} results, {} refusals, {} jobs, {} recoveries; last hash {}\n", found.results,
                        found.refusals, found.jobs, found.recoveries, found.last_hash);
  }
  for (const std::string& checkpoint : found.checkpoints) text += fmt::format("checkpoint: {}\n", checkpoint);
  if (found.open_intents > 0) {
    text +=
        fmt::format("open: {} intent{} without an end, a crash or a run that goes on: {}\n", found.open_intents,
                    found.open_intents == 1 ? "" : "s", printable(fmt::format("{}", fmt::join(found.open_runs, " "))));
  }
  if (found.clock_went_back > 0) text += fmt::format("clock: went back {} times\n", found.clock_went_back);
  if (found.torn_bytes > 0)
    text += fmt::format("torn: {} bytes of a record that was never finished\n", found.torn_bytes);
  for (const std::string& note : found.notes) text += fmt::format("note: {}\n", note);
  return text;
}

int verify(const VerifyCommand& command, const Environment& environment) {
  const Format format = command.place.format;
  const Result<audit::LogDirectory> directory = open_log(command.place, environment);
  if (!directory) return report(directory.error(), format);
  Result<audit::VerifyOptions> options = verify_options(command, *directory, environment);
  if (!options) return report(options.error(), format);
  const Result<audit::Verification> found = audit::verify_log(*directory, *std::move(options));
  if (!found) return report(found.error(), format);
  const int code = found->problem ? kAuditDamaged : kAuditWhole;
  if (format == Format::kJson) return print_record(json_of_verification(*found), code);
  return print_text(text_of_verification(*found, directory->path()), code);
}

constexpr auto kVerifyOptions =
    std::to_array<Option<VerifyCommand>>({{{"--dir", Arity::kValue}, set_place_directory<VerifyCommand>},
                                          {{"--checkpoint", Arity::kRepeatable}, add_path<&VerifyCommand::checkpoints>},
                                          {{"--pub", Arity::kValue}, set_text<&VerifyCommand::key>},
                                          {{"--json", Arity::kFlag}, set_place_json<VerifyCommand>}});

}  // namespace

Result<Action> parse_audit_verify(Args args, Format& format) {
  VerifyCommand command;
  if (!TRY(read_options(args, kVerifyOptions, command, format))) return Action();
  return [command = std::move(command)](const Environment& environment) { return verify(command, environment); };
}

}  // namespace sallyport::cli
