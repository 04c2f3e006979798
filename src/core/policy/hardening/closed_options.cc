#include "core/policy/hardening/closed_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "core/policy/hardening/options.h"
#include "core/text/did_you_mean.h"

namespace sallyport::hardening {
namespace {

constexpr std::array<std::string_view, 4> kAboutItself = {"--help", "-h", "--version", "-V"};

class ClosedOptionsReader {
 public:
  ClosedOptionsReader(const CommandLine& line, Argv arguments) : line_(line), arguments_(arguments) {}

  Result<ReadArguments> read() {
    while (at_ < arguments_.size()) {
      const std::string_view word = arguments_[at_];
      if (word == "--") {
        ++at_;
        break;
      }
      if (!is_option(word)) {
        if (line_.order == Order::kBeforeOperands) break;
        out_.operands.push_back(word);
        ++at_;
        continue;
      }
      ++at_;
      if (is_long(word)) {
        TRY(read_long(word));
      } else {
        TRY(read_cluster(word));
      }
    }
    out_.end = at_;
    for (; at_ < arguments_.size(); ++at_) out_.operands.emplace_back(arguments_[at_]);
    return std::move(out_);
  }

 private:
  [[nodiscard]] Error refused(std::string_view word, std::string_view why, std::string_view hint) const {
    return refused_argument(line_.tool, word, why, hint);
  }

  [[nodiscard]] Error unknown(std::string_view word) const {
    std::vector<std::string_view> names;
    for (const KnownOption& option : line_.options) {
      if (option.treat != Treat::kRefuse) names.push_back(option.name);
    }
    const std::string near = did_you_mean(split_long(word).name, names);
    return refused(word, "not one of the options it may be given here",
                   near.empty() ? "leave it out; docs/hardening.md has the list" : near);
  }

  Status add(const KnownOption& option, std::string_view word, std::string_view value) {
    if (option.treat == Treat::kRefuse) return fail(refused(word, option.why, "leave it out"));
    out_.options.push_back({.option = &option, .value = value});
    return {};
  }

  // An option's value is the next word, whatever it is. Refuse a value that looks like an option: another parser might
  // read it as one.
  Status add_with_next(const KnownOption& option, std::string_view word) {
    if (option.treat == Treat::kRefuse) return add(option, word, {});
    if (at_ == arguments_.size()) return fail(refused(word, "it needs a value", "write the value after it"));
    const std::string_view value = arguments_[at_++];
    if (is_option(value))
      return fail(refused(value, "an option cannot be the value of the option before it", "write --option=value"));
    return add(option, word, value);
  }

  Status read_long(std::string_view word) {
    const LongOption split = split_long(word);
    const auto found = std::ranges::find(line_.options, split.name, &KnownOption::name);
    if (found == line_.options.end()) return fail(unknown(word));
    if (split.has_value && found->takes == Takes::kNothing && found->treat != Treat::kRefuse) {
      return fail(refused(word, "it takes no value", fmt::format("write just {}", found->name)));
    }
    if (split.has_value || found->takes != Takes::kValue) return add(*found, word, split.value);
    return add_with_next(*found, word);
  }

  Status read_cluster(std::string_view word) {
    std::string_view letters = word.substr(1);
    for (bool first = true; !letters.empty(); first = false) {
      const auto found = std::ranges::find(line_.options, letters.front(), &KnownOption::letter);
      if (found == line_.options.end()) return fail(unknown(word));
      letters.remove_prefix(1);
      if (found->takes != Takes::kValue) {
        TRY(add(*found, word, {}));
        continue;
      }
      if (!first) {
        return fail(refused(word, "an option with a value may not end a cluster", "write the options one by one"));
      }
      if (letters.empty()) return add_with_next(*found, word);
      if (line_.attached == Attached::kAfterEquals && letters.front() == '=') letters.remove_prefix(1);
      return add(*found, word, letters);
    }
    return {};
  }

  const CommandLine& line_;
  Argv arguments_;
  std::size_t at_ = 0;
  ReadArguments out_;
};

}  // namespace

bool ReadArguments::has(std::string_view name) const {
  return std::ranges::any_of(options, [&](const GivenOption& given) { return given.option->name == name; });
}

std::string_view ReadArguments::value_of(std::string_view name, std::string_view otherwise) const {
  for (const GivenOption& given : std::views::reverse(options)) {
    if (given.option->name == name) return given.value;
  }
  return otherwise;
}

Result<ReadArguments> read_arguments(const CommandLine& line, Argv arguments) {
  return ClosedOptionsReader(line, arguments).read();
}

std::vector<FileRule> file_rules(const CommandLine& line, const ReadArguments& arguments) {
  std::vector<FileRule> rules;
  for (const GivenOption& given : arguments.options) {
    const Treat treat = given.option->treat;
    if ((treat != Treat::kOutput && treat != Treat::kObey) || given.value == "-") continue;
    const bool output = treat == Treat::kOutput;
    rules.push_back({.kind = output ? FileRule::Kind::kOutput : FileRule::Kind::kOutsideRepo,
                     .path = std::string(given.value),
                     .what = fmt::format("{} {}", line.tool, given.option->name),
                     .hint = output ? "write to a new file in the repo, or remove what stands there"
                                    : "name a file of your own, outside the repo"});
  }
  return rules;
}

void add_facts(std::vector<HardeningFact>& facts, std::span<const KnownOption> options) {
  for (const KnownOption& option : options) {
    if (option.treat == Treat::kAllow) continue;
    facts.push_back(
        {.kind = option.treat == Treat::kRefuse ? HardeningFact::Kind::kRefused : HardeningFact::Kind::kNeutralised,
         .what = option.name,
         .why = option.why});
  }
}

AdmittedWords admitted_of(std::span<const KnownOption> options, std::span<const std::string_view> commands) {
  AdmittedWords words{.commands = {commands.begin(), commands.end()}};
  for (const KnownOption& option : options) {
    if (option.treat != Treat::kRefuse) words.options.emplace_back(option.name);
  }
  return words;
}

Status check_command_name(std::string_view tool, std::string_view command, std::span<const std::string_view> known) {
  if (std::ranges::find(known, command) != known.end()) return {};
  const std::string near = did_you_mean(command, known);
  return fail(
      refused_argument(tool, command, "not one of the commands it may run here",
                       near.empty() ? fmt::format("put the command first, one of: {}", fmt::join(known, ", ")) : near));
}

bool asks_about_itself(Argv arguments) {
  return arguments.size() == 1 && std::ranges::find(kAboutItself, arguments.front()) != kAboutItself.end();
}

}  // namespace sallyport::hardening
