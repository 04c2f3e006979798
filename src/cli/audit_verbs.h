// The subcommands of `sallyport audit`: one file each in verbs/, and what they share.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "audit/log_directory.h"
#include "cli/command_line.h"
#include "cli/environment.h"
#include "cli/format.h"
#include "cli/option_table.h"
#include "cli/verb.h"
#include "core/audit/signed_note.h"
#include "sallyport/result.h"

namespace sallyport::cli {

// --dir and --json.
struct AuditPlace {
  std::optional<std::filesystem::path> directory{};
  Format format = Format::kText;
};

[[nodiscard]] Result<audit::LogDirectory> open_log(const AuditPlace& place, const Environment& environment);
// Makes the log if it is missing, as a call would.
[[nodiscard]] Result<audit::LogDirectory> open_own_log(const AuditPlace& place, const Environment& environment);
// Accepts a key as text, or the name of its file.
[[nodiscard]] Result<audit::NoteKey> key_named(const std::string& text, const Environment& environment);

template <class Command>
Status set_place_directory(Command& command, std::string_view value) {
  command.place.directory = std::filesystem::path(value);
  return {};
}
template <class Command>
Status set_place_json(Command& command, std::string_view /*value*/) {
  command.place.format = Format::kJson;
  return {};
}

// Reads the options and the operand of one subcommand into `command`. False: the user asked for the help page.
template <class Command, class Table>
Result<bool> read_options(Args args, const Table& table, Command& command, Format& format,
                          std::optional<std::string>* operand = nullptr) {
  OptionWalker walker(args, table, format);
  while (true) {
    const Token token = TRY(walker.next());
    if (token.kind == Token::Kind::kEnd) return true;
    if (token.kind == Token::Kind::kHelp) return false;
    if (token.kind == Token::Kind::kOption) TRY(table[token.index].apply(command, token.value));
    if (token.kind != Token::Kind::kOperand) continue;
    if (operand == nullptr || *operand) return fail(superfluous_word(token.value));
    *operand = std::string(token.value);
  }
}

inline constexpr int kAuditWhole = 0;
inline constexpr int kAuditDamaged = 1;

// Each is pure, like Verb::parse; `args` without the word itself.
[[nodiscard]] Result<Action> parse_audit_verify(Args args, Format& format);
[[nodiscard]] Result<Action> parse_audit_show(Args args, Format& format);
[[nodiscard]] Result<Action> parse_audit_stats(Args args, Format& format);
[[nodiscard]] Result<Action> parse_audit_report(Args args, Format& format);
[[nodiscard]] Result<Action> parse_audit_keygen(Args args, Format& format);
[[nodiscard]] Result<Action> parse_audit_checkpoint(Args args, Format& format);
[[nodiscard]] Result<Action> parse_audit_prove(Args args, Format& format);
[[nodiscard]] Result<Action> parse_audit_attest(Args args, Format& format);
[[nodiscard]] Result<Action> parse_audit_verify_attestation(Args args, Format& format);

}  // namespace sallyport::cli
