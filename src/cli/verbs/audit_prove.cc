// sallyport audit prove, attest and verify-attestation: what others can check without us.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "audit/attest.h"
#include "audit/prove.h"
#include "audit/transparency.h"
#include "cli/audit_verbs.h"
#include "cli/commit_tree.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/job.h"
#include "core/audit/dsse.h"
#include "core/bytes/base64.h"
#include "core/errors.h"
#include "core/json/lookup.h"
#include "os/file.h"

namespace sallyport::cli {
namespace {

namespace fs = std::filesystem;

struct ProveCommand {
  AuditPlace place{};
  std::string record{};
  std::optional<fs::path> checkpoint{};
};

Json hashes_json(const std::vector<audit::TreeHash>& hashes) {
  Json list = Json::array();
  for (const audit::TreeHash& hash : hashes) list.push_back(base64(std::string(hash.begin(), hash.end())));
  return list;
}

Result<audit::RecordProof> make_proof(const ProveCommand& command, const Environment& environment,
                                      std::optional<audit::Checkpoint>& old) {
  const audit::LogDirectory directory = TRY(open_log(command.place, environment));
  if (command.checkpoint) {
    const std::string note = TRY(read_named_file(environment.current_directory / *command.checkpoint, mebibytes(1)));
    const audit::NoteKey key = TRY(audit::own_public_key(directory));
    old = TRY(audit::open_checkpoint(note, key));
  }
  return audit::prove_record(directory, command.record, old);
}

int prove(const ProveCommand& command, const Environment& environment) {
  std::optional<audit::Checkpoint> old;
  const Result<audit::RecordProof> proof = make_proof(command, environment, old);
  if (!proof) return report(proof.error(), command.place.format);
  if (command.place.format == Format::kText) return print_text(audit::tlog_proof_text(*proof), kExitOk);
  Json json = {{"schema", "sallyport.audit_proof/1"},
               {"seq", proof->seq},
               {"index", proof->seq - 1},
               {"hash", proof->hash},
               {"record", proof->record},
               {"inclusion", hashes_json(proof->inclusion)},
               {"checkpoint", proof->note}};
  if (old) json["consistency"] = {{"old_size", old->size}, {"hashes", hashes_json(proof->consistency)}};
  return print_record(json, kExitOk);
}

struct AttestCommand {
  AuditPlace place{};
  std::string run{};
  std::string key{};
  std::optional<fs::path> output{};
  audit::Predicate predicate = audit::Predicate::kReceipt;
};

Result<std::string> make_attestation(const AttestCommand& command, const Environment& environment) {
  const audit::LogDirectory directory = TRY(open_log(command.place, environment));
  const audit::NoteKey key = TRY(key_named(command.key, environment));
  if (key.seed.empty())
    return fail(invalid_request("key", "it is a public one", "name the private key with --key FILE"));
  const auto tree_of = [&](const std::string& repo, const std::string& commit) -> std::optional<std::string> {
    const Result<std::string> tree = commit_tree(repo, commit, environment);
    if (tree) return *tree;
    say(fmt::format("note: no gitTree is attested: {}", tree.error().message));
    return std::nullopt;
  };
  const std::string statement = TRY(audit::statement_of(directory, command.run, command.predicate, tree_of));
  return TRY(audit::dsse_envelope(audit::kInTotoPayload, statement, key)) + "\n";
}

int attest(const AttestCommand& command, const Environment& environment) {
  const Result<std::string> envelope = make_attestation(command, environment);
  if (!envelope) return report(envelope.error(), command.place.format);
  if (!command.output) return print_text(*envelope, kExitOk);
  const Status written = write_report(environment.current_directory / *command.output, *envelope);
  return written ? kExitOk : report(written.error(), command.place.format);
}

struct CheckCommand {
  AuditPlace place{};
  std::string file{};
  std::string key{};
};

Result<Json> checked_statement(const CheckCommand& command, const Environment& environment) {
  const audit::NoteKey key = TRY(key_named(command.key, environment));
  const std::string text = TRY(read_named_file(environment.current_directory / command.file, mebibytes(16)));
  const audit::VerifiedPayload payload = TRY(audit::open_envelope(text, key));
  Json statement = Json::parse(payload.payload, nullptr, false);
  const bool is_statement =
      payload.type == audit::kInTotoPayload && text_in(statement, "_type") == audit::kStatementType;
  if (!is_statement) return fail(invalid_request("attestation", "it is no in-toto statement", "attest writes those"));
  return statement;
}

// A bad signature gives exit 1, like a damaged log; an unreadable file is an ordinary error.
int verify_attestation(const CheckCommand& command, const Environment& environment) {
  const Result<Json> statement = checked_statement(command, environment);
  if (!statement) {
    const auto* const invalid = statement.error().as<InvalidRequest>();
    const int code = report(statement.error(), command.place.format);
    return invalid != nullptr && invalid->field == "attestation" ? kAuditDamaged : code;
  }
  if (command.place.format == Format::kText)
    return print_text(json_dump(*statement, JsonStyle::kIndented) + "\n", kExitOk);
  return print_record({{"schema", "sallyport.audit_attestation/1"}, {"verified", true}, {"statement", *statement}},
                      kExitOk);
}

Status set_predicate(AttestCommand& command, std::string_view value) {
  constexpr std::array<std::string_view, 3> kNames = {"receipt", "scai", "test-result"};
  const auto name = std::ranges::find(kNames, value);
  if (name == kNames.end()) {
    return fail(
        invalid_request("predicate", fmt::format("there is no '{}'", value), "one of: receipt, scai, test-result"));
  }
  command.predicate = static_cast<audit::Predicate>(name - kNames.begin());
  return {};
}

constexpr auto kProveOptions =
    std::to_array<Option<ProveCommand>>({{{"--dir", Arity::kValue}, set_place_directory<ProveCommand>},
                                         {{"--json", Arity::kFlag}, set_place_json<ProveCommand>},
                                         {{"--checkpoint", Arity::kValue}, set_path<&ProveCommand::checkpoint>}});
constexpr auto kAttestOptions =
    std::to_array<Option<AttestCommand>>({{{"--dir", Arity::kValue}, set_place_directory<AttestCommand>},
                                          {{"--json", Arity::kFlag}, set_place_json<AttestCommand>},
                                          {{"--key", Arity::kValue}, set_text<&AttestCommand::key>},
                                          {{"--predicate", Arity::kValue}, set_predicate},
                                          {{"-o", Arity::kValue}, set_path<&AttestCommand::output>}});
constexpr auto kCheckOptions =
    std::to_array<Option<CheckCommand>>({{{"--json", Arity::kFlag}, set_place_json<CheckCommand>},
                                         {{"--pub", Arity::kValue}, set_text<&CheckCommand::key>}});

Error missing_word(std::string_view what, std::string_view hint) {
  return invalid_request("arguments", fmt::format("{} is missing", what), hint);
}

}  // namespace

Result<Action> parse_audit_prove(Args args, Format& format) {
  ProveCommand command;
  std::optional<std::string> record;
  if (!TRY(read_options(args, kProveOptions, command, format, &record))) return Action();
  if (!record) return fail(missing_word("the record", "a number, a run's id, or last"));
  command.record = *record;
  return [command = std::move(command)](const Environment& environment) { return prove(command, environment); };
}

Result<Action> parse_audit_attest(Args args, Format& format) {
  AttestCommand command;
  std::optional<std::string> run;
  if (!TRY(read_options(args, kAttestOptions, command, format, &run))) return Action();
  if (!run) return fail(missing_word("the run or job", "its id, the number of its last record, last or last-job"));
  if (command.key.empty()) return fail(missing_word("--key", "name a private key; sallyport audit keygen makes one"));
  command.run = *run;
  return [command = std::move(command)](const Environment& environment) { return attest(command, environment); };
}

Result<Action> parse_audit_verify_attestation(Args args, Format& format) {
  CheckCommand command;
  std::optional<std::string> file;
  if (!TRY(read_options(args, kCheckOptions, command, format, &file))) return Action();
  if (!file) return fail(missing_word("the attestation", "name its file"));
  if (command.key.empty()) return fail(missing_word("--pub", "name the public key, or its file"));
  command.file = *file;
  return [command = std::move(command)](const Environment& environment) {
    return verify_attestation(command, environment);
  };
}

}  // namespace sallyport::cli
