// sallyport audit show: the calls of the log, in order.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>

#include "audit/log_reader.h"
#include "audit/members.h"
#include "cli/audit_verbs.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/option_words.h"
#include "cli/stop_on_signal.h"
#include "core/errors.h"
#include "core/json/lookup.h"
#include "core/json/picked.h"
#include "core/parse_units.h"
#include "core/text/printable.h"

namespace sallyport::cli {
namespace {

struct ShowCommand {
  AuditPlace place{};
  bool follow = false;
  std::optional<std::string> outcome{};
  std::optional<std::string> tool{};
  std::optional<std::string> host{};
  std::optional<std::string> since{};
  std::optional<std::string> repo{};

  [[nodiscard]] bool has_filter() const { return outcome || tool || host || repo; }
};

// A JSON value as one line for people: a string as it is, {"base64": …} and the rest as JSON.
std::string shown(const Json& value) {
  return printable(value.is_string() ? value.get<std::string>() : json_dump(value));
}

std::string outcome_of(const Json& record) {
  if (has_member(record, "outcome")) return text_in(member(record, "outcome"), "outcome");
  const std::string kind = text_in(record, "kind");
  return kind == "job" ? text_in(record, "result") : kind;
}

// The members of a record that we show, or that a filter reads.
const MemberNames& shown_members() {
  static const MemberNames names = {"seq",         "time",    "kind",  "run",    "tool", "repo", "outcome",
                                    "duration_ms", "denials", "error", "result", "name", "torn", "request.argv"};
  return names;
}

std::string command_of(const Json& record) {
  constexpr std::size_t kLongestShown = 160;
  std::string text;
  if (text_in(record, "kind") == "job") return shown(member(record, "name")) + " (the whole job)";
  for (const Json& word : items_in(member(record, "request"), "argv")) {
    if (text.size() > kLongestShown) return text + " ...";
    text += (text.empty() ? "" : " ") + shown(word);
  }
  return text;
}

bool denies_host(const Json& record, const std::string& host) {
  return std::ranges::any_of(items_in(record, "denials"),
                             [&](const Json& denial) { return text_in(denial, "host") == host; });
}

bool passes(const ShowCommand& command, const Json& record) {
  if (command.tool && text_in(record, "tool") != *command.tool) return false;
  if (command.repo && text_in(record, "repo") != *command.repo) return false;
  if (command.outcome && outcome_of(record) != *command.outcome) return false;
  return !command.host || denies_host(record, *command.host);
}

std::string line_of_record(const Json& record, const std::string& command) {
  std::string what = shown(outcome_of(record));
  const Json& outcome = member(record, "outcome");
  if (has_member(outcome, "exit_code")) what += fmt::format(" {}", shown(member(outcome, "exit_code")));
  if (has_member(outcome, "signal")) what += fmt::format(" signal {}", shown(member(outcome, "signal")));
  std::string line = fmt::format("{} {:>6} {:<16}", printable(text_in(record, "time")), count_in(record, "seq"), what);
  if (has_member(record, "duration_ms")) line += fmt::format(" {:>9.1f} ms", number_in(record, "duration_ms"));
  line += fmt::format("  {}", command.empty() ? printable(text_in(record, "tool")) : command);
  if (has_member(record, "repo")) line += fmt::format("  in {}", shown(member(record, "repo")));
  if (has_member(record, "error"))
    line += fmt::format("  {}", in_options(shown(member(member(record, "error"), "message"))));
  if (const Json& torn = member(record, "torn"); !torn.is_null()) {
    line += fmt::format("  {} bytes set aside as {}", count_in(torn, "bytes"), shown(member(torn, "file")));
  }
  return line + fmt::format("  {}\n", printable(text_in(record, "run").substr(0, 12)));
}

class Shower {
 public:
  explicit Shower(const ShowCommand& command, std::string since) : command_(command), since_(std::move(since)) {}

  // Shows everything that the reader has now; returns the exit code when our own reader is gone.
  Result<int> show(audit::LogReader& reader) {
    std::string text;
    while (const std::optional<audit::LogRecord> record = TRY(reader.next())) {
      text += line_for(*record);
      if (text.size() < kAtOnce) continue;
      if (const int code = print_text(std::exchange(text, {}), kExitOk); code != kExitOk) return code;
    }
    return text.empty() ? kExitOk : print_text(text, kExitOk);
  }

  // Intents without an end.
  [[nodiscard]] int show_open() const {
    std::string text;
    for (const auto& [run, intent] : open_) {
      Json json = Json::parse(intent, nullptr, false);
      if (!json.is_object() || is_early(text_in(json, "time"))) continue;
      json["kind"] = "open";
      if (passes(command_, json)) text += line_of_record(json, command_of(json));
    }
    return text.empty() ? kExitOk : print_text(text, kExitOk);
  }

 private:
  static constexpr std::size_t kAtOnce = 64 * 1024;

  [[nodiscard]] bool is_early(std::string_view time) const { return !since_.empty() && time < since_; }

  std::string line_for(const audit::LogRecord& record) {
    if (command_.place.format == Format::kJson) return json_line_for(record);
    std::string text = picked_text(record.text, shown_members());
    std::string run(record.line.run);
    if (record.line.kind == "intent") return intent_line(std::move(text), std::move(run), record.line.time);
    const auto intent = open_.extract(run);
    if (is_early(record.line.time)) return {};
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || !passes(command_, json)) return {};
    const Json asked = intent.empty() ? Json() : Json::parse(intent.mapped(), nullptr, false);
    return line_of_record(json, command_of(asked.is_object() ? asked : json));
  }

  // The record unchanged, unless it is not valid JSON.
  [[nodiscard]] std::string json_line_for(const audit::LogRecord& record) const {
    if (is_early(record.line.time) || !Json::accept(record.text)) return {};
    const bool wanted = !command_.has_filter() || passes(command_, picked(record.text, shown_members()));
    return wanted ? std::string(record.text) + "\n" : std::string();
  }

  // Shows an intent when its call ends, or at the end of the log; with --follow at once.
  std::string intent_line(std::string text, std::string run, std::string_view time) {
    std::string line;
    if (command_.follow && !is_early(time)) {
      const Json json = Json::parse(text, nullptr, false);
      if (json.is_object() && passes(command_, json)) line = line_of_record(json, command_of(json));
    }
    open_.insert_or_assign(std::move(run), std::move(text));
    return line;
  }

  const ShowCommand& command_;
  const std::string since_;
  std::unordered_map<std::string, std::string> open_;  // by run: the text of an intent whose end we have not read yet
};

// "1h" counts back from now; anything else is the beginning of a time, as in 2026-11-17T15.
Result<std::string> since_text(const ShowCommand& command) {
  if (!command.since) return std::string();
  if (command.since->find('-') != std::string::npos) return *command.since;
  const std::chrono::milliseconds back = TRY(parse_duration(*command.since, "since"));
  return audit::time_text(std::chrono::system_clock::now() - back);
}

Result<int> show_log(const ShowCommand& command, const Environment& environment) {
  constexpr int kPollMs = 200;
  const audit::LogDirectory directory = TRY(open_log(command.place, environment));
  Shower shower(command, TRY(since_text(command)));
  audit::LogReader reader = TRY(audit::LogReader::open(directory));
  if (!command.follow) {
    const int code = TRY(shower.show(reader));
    return code != kExitOk ? code : shower.show_open();
  }
  const StopOnSignal signals = TRY(StopOnSignal::start());
  for (;;) {
    if (const int code = TRY(shower.show(reader)); code != kExitOk) return code;
    pollfd stop{.fd = signals.fd(), .events = POLLIN, .revents = 0};
    if (::poll(&stop, 1, kPollMs) > 0) return kExitOk;
    TRY(reader.refresh());
  }
}

int show_records(const ShowCommand& command, const Environment& environment) {
  const Result<int> code = show_log(command, environment);
  return code ? *code : report(code.error(), command.place.format);
}

constexpr auto kShowOptions =
    std::to_array<Option<ShowCommand>>({{{"--dir", Arity::kValue}, set_place_directory<ShowCommand>},
                                        {{"--json", Arity::kFlag}, set_place_json<ShowCommand>},
                                        {{"--follow", Arity::kFlag}, set_flag<&ShowCommand::follow, true>},
                                        {{"--outcome", Arity::kValue}, set_text<&ShowCommand::outcome>},
                                        {{"--tool", Arity::kValue}, set_text<&ShowCommand::tool>},
                                        {{"--host", Arity::kValue}, set_text<&ShowCommand::host>},
                                        {{"--since", Arity::kValue}, set_text<&ShowCommand::since>},
                                        {{"--repo", Arity::kValue}, set_text<&ShowCommand::repo>}});

}  // namespace

Result<Action> parse_audit_show(Args args, Format& format) {
  ShowCommand command;
  if (!TRY(read_options(args, kShowOptions, command, format))) return Action();
  return [command = std::move(command)](const Environment& environment) { return show_records(command, environment); };
}

}  // namespace sallyport::cli
