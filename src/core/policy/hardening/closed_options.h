// Reads a tool's command line against a closed table of its options, and refuses what is not in the table,
// abbreviations included. The documents show the same table (facts.h), so what is listed is enforced.
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
  kObey,    // the value is a file that the tool obeys: must not be in the repo
};

struct KnownOption {
  std::string_view name;  // "--config"
  char letter = 0;        // 'c', or none
  Takes takes = Takes::kNothing;
  Treat treat = Treat::kAllow;
  std::string_view why{};  // for all but kAllow
};

// How the tool's parser reads text attached to a short option.
enum class Attached {
  kAfterEquals,  // "-c=x" means x, as pflag and clap read it
  kWhole,        // "-c=x" means "=x", as getopt reads it
};

// Where options may come.
enum class Order {
  kAnywhere,
  kBeforeOperands,  // the first word that is no option ends them: it starts another command
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
  std::size_t end = 0;  // kBeforeOperands: the index of the first operand
  [[nodiscard]] bool has(std::string_view name) const;
  // The value of the option's last occurrence; the tools use that one too.
  [[nodiscard]] std::string_view value_of(std::string_view name, std::string_view otherwise = {}) const;
};

// Fails for an option that is unknown or refused. A short option with a value must be alone or have the value attached:
// parsers disagree about the end of a cluster.
[[nodiscard]] Result<ReadArguments> read_arguments(const CommandLine& line, Argv arguments);

// One rule for each kOutput and kObey option that was given. "-" as a value means a stream, not a file.
[[nodiscard]] std::vector<FileRule> file_rules(const CommandLine& line, const ReadArguments& arguments);

// Adds the rows of interest: refused options, and files that are checked.
void add_facts(std::vector<HardeningFact>& facts, std::span<const KnownOption> options);

// The names of the table that may be given, and the commands.
[[nodiscard]] AdmittedWords admitted_of(std::span<const KnownOption> options,
                                        std::span<const std::string_view> commands = {});

// Checks that the command is in the list. Accepts only whole names.
[[nodiscard]] Status check_command_name(std::string_view tool, std::string_view command,
                                        std::span<const std::string_view> known);

// True for "--help", "--version" and their letters alone: the tool only describes itself.
[[nodiscard]] bool asks_about_itself(Argv arguments);

}  // namespace sallyport::hardening
