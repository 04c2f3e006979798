// A tool's command line read against a closed table of its options: what is not in the table is refused, abbreviations
// included. The table is also what the documents show (facts.h), so what is listed is what is enforced.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy/hardening/facts.h"
#include "core/policy/hardening/hardeners.h"

namespace sallyport::hardening {

enum class Takes { kNothing, kValue, kMaybeValue };  // kMaybeValue: only in the form --name=value

enum class Treat {
  kAllow,
  kRefuse,
  kOutput,  // the value is a file the tool writes
  kObey,    // the value is a file the tool obeys: never the repo's
};

struct KnownOption {
  std::string_view name;  // "--config"
  char letter = 0;        // 'c', or none
  Takes takes = Takes::kNothing;
  Treat treat = Treat::kAllow;
  std::string_view why{};  // for all but kAllow
};

// How the tool's parser reads what is attached to a short option.
enum class Attached {
  kAfterEquals,  // "-c=x" means x, as pflag and clap read it
  kWhole,        // "-c=x" means "=x", as getopt reads it
};

// Where options may stand.
enum class Order {
  kAnywhere,
  kBeforeOperands,  // the first word that is no option ends them: it is a command of its own
};

struct CommandLine {
  std::string_view tool;
  std::span<const KnownOption> options;
  Attached attached = Attached::kAfterEquals;
  Order order = Order::kAnywhere;
};

struct GivenOption {
  const KnownOption* option = nullptr;
  std::string_view value{};
};

struct ReadArguments {
  std::vector<GivenOption> options;
  std::vector<std::string_view> operands;
  std::size_t end = 0;  // kBeforeOperands: where the first operand stands
  [[nodiscard]] bool has(std::string_view name) const;
  // Of the last one given; the tools let the last one win.
  [[nodiscard]] std::string_view value_of(std::string_view name, std::string_view otherwise = {}) const;
};

// Fails for an option that is unknown or refused. A short option that takes a value stands alone or has the value
// attached: parsers disagree about the end of a cluster.
[[nodiscard]] Result<ReadArguments> read_arguments(const CommandLine& line, Argv arguments);

// One rule for each kOutput and kObey option that was given. "-" as a value means a stream, not a file.
[[nodiscard]] std::vector<FileRule> file_rules(const CommandLine& line, const ReadArguments& arguments);

// The rows of the table that say something: refused options, and files that are checked.
void add_facts(std::vector<HardeningFact>& facts, std::span<const KnownOption> options);

// The names of the table that may be given, and the commands.
[[nodiscard]] AdmittedWords admitted_of(std::span<const KnownOption> options,
                                        std::span<const std::string_view> commands = {});

// A command that may be asked for. Only whole names.
[[nodiscard]] Status check_command_name(std::string_view tool, std::string_view command,
                                        std::span<const std::string_view> known);

// "--help", "--version" and their letters, alone: the tool says something about itself and does nothing.
[[nodiscard]] bool asks_about_itself(Argv arguments);

}  // namespace sallyport::hardening
