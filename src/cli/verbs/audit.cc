// sallyport audit: what was run, whether the log of it is whole, and proofs of it for others.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "audit/transparency.h"
#include "cli/audit_choice.h"
#include "cli/audit_verbs.h"
#include "cli/command_line.h"
#include "core/errors.h"

namespace sallyport::cli {

namespace {

Result<std::filesystem::path> log_path(const AuditPlace& place, const Environment& environment) {
  std::filesystem::path path =
      place.directory ? environment.current_directory / *place.directory : default_audit_directory(environment);
  if (!path.empty()) return path;
  return fail(
      invalid_request("audit log", "neither XDG_STATE_HOME nor HOME is set", "name its directory with --dir DIR"));
}

}  // namespace

Result<audit::LogDirectory> open_log(const AuditPlace& place, const Environment& environment) {
  const std::filesystem::path path = TRY(log_path(place, environment));
  return audit::LogDirectory::open_for_reading(path);
}

Result<audit::LogDirectory> open_own_log(const AuditPlace& place, const Environment& environment) {
  const std::filesystem::path path = TRY(log_path(place, environment));
  if (!place.directory) {
    if (const std::optional<std::string> why = make_default_audit_directory(environment)) {
      return fail(invalid_request("audit log", *why, "name its directory with --dir DIR"));
    }
  }
  return audit::LogDirectory::open_for_writing(path);
}

Result<audit::NoteKey> key_named(const std::string& text, const Environment& environment) {
  Result<audit::NoteKey> key = audit::parse_note_key(text);
  return key ? std::move(key) : audit::read_note_key(environment.current_directory / text);
}

namespace {

struct Word {
  std::string_view name;
  Result<Action> (*parse)(Args args, Format& format);
};

constexpr auto kWords = std::to_array<Word>({{"verify", parse_audit_verify},
                                             {"show", parse_audit_show},
                                             {"stats", parse_audit_stats},
                                             {"report", parse_audit_report},
                                             {"keygen", parse_audit_keygen},
                                             {"checkpoint", parse_audit_checkpoint},
                                             {"prove", parse_audit_prove},
                                             {"attest", parse_audit_attest},
                                             {"verify-attestation", parse_audit_verify_attestation}});

Result<Action> parse_audit(Args args, Format& format) {
  if (args.empty()) {
    return fail(invalid_request("arguments", "no subcommand", "sallyport help audit"));
  }
  if (args[0] == "--help" || args[0] == "-h") return Action();
  const auto word = std::ranges::find(kWords, args[0], &Word::name);
  if (word == kWords.end()) {
    read_format(args, format);
    std::vector<std::string_view> names;
    for (const Word& entry : kWords) names.push_back(entry.name);
    return fail(unknown_word("audit", args[0], names));
  }
  return word->parse(args.subspan(1), format);
}

constexpr std::string_view kAuditPage = R"(usage: sallyport audit WORD [--dir DIR] [--json] [OPTIONS]
Every call through the gate is recorded, refusals too, in a chain of hashes.

  verify [--checkpoint FILE].. [--pub KEY]   is it whole? 1: the first bad record
  show [--follow] [--outcome O] [--tool T] [--host H] [--since T] [--repo R]
                         the calls, one a line; --json: the records
  stats                  outcomes, times by tool, denied hosts
  report -o FILE.html    one page to look through, without any network
  keygen --name NAME [--key FILE] [--copy-to DIR].. [--every N] [--interval T]
                         a key, and from now on signed checkpoints
  checkpoint             make one now
  prove RECORD [--checkpoint FILE]           that it is in the log (tlog-proof)
  attest RUN|JOB --key FILE [--predicate receipt|scai|test-result] [-o FILE]
                         in-toto, signed; test-result: of a validate or probe job
  verify-attestation FILE --pub KEY          print the statement if it is signed

RECORD, RUN, JOB: a number, an id, last, last-job. The log is at
$XDG_STATE_HOME/sallyport/audit, else ~/.local/state/sallyport/audit. Of run,
probe, lint, validate: --audit DIR writes another, --no-audit none.

exit codes: 0; 1 the log or the signature is bad; 125 could not be read
example: sallyport audit show --outcome refusal --since 1h
)";

}  // namespace

extern constinit const Verb kAuditVerb{.name = "audit",
                                       .summary = "what was run, and that nobody changed the log of it",
                                       .page = kAuditPage,
                                       .parse = parse_audit};

}  // namespace sallyport::cli
