// sallyport workspace: a private writable version of a repo, and what to commit of it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "cli/console.h"
#include "cli/console_events.h"
#include "cli/exit_code.h"
#include "cli/option_table.h"
#include "cli/repo_root.h"
#include "cli/verb.h"
#include "cli/workspace_text.h"
#include "core/errors.h"
#include "core/json/json.h"
#include "core/parse_units.h"
#include "core/text/did_you_mean.h"
#include "core/text/printable.h"
#include "core/text/units.h"
#include "sallyport/workspace.h"

namespace sallyport::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kExitConflict = 1;

struct WorkspaceCommand {
  std::string what{};
  std::vector<std::string> words{};  // the name, then patterns
  std::optional<fs::path> state_dir{};
  std::optional<fs::path> repo{};
  std::optional<ByteCount> quota{};
  bool copy = false;
  bool patch = false;
  bool all = false;
  bool include_flagged = false;
  bool dry_run = false;
  Format format = Format::kText;
};

fs::path state_dir_of(const WorkspaceCommand& command, const Environment& environment) {
  return command.state_dir ? environment.current_directory / *command.state_dir : workspace_dir(environment);
}

fs::path repo_of(const WorkspaceCommand& command, const Environment& environment, EventSink& events) {
  if (command.repo) return environment.current_directory / *command.repo;
  return repo_around(environment.current_directory, environment, events);
}

// Opens only an existing one: a mistyped name must not make another.
Result<std::unique_ptr<Workspace>> open_existing(const WorkspaceCommand& command, const Environment& environment,
                                                 EventSink& events) {
  const fs::path state_dir = state_dir_of(command, environment);
  const std::string& name = command.words.front();
  std::vector<std::string> names;
  for (const WorkspaceInfo& info : TRY(Workspace::list(state_dir))) {
    if (info.name.empty() || info.broken) continue;
    if (info.name == name) {
      return Workspace::open({.repo = info.repo, .state_dir = state_dir, .name = name, .events = &events});
    }
    names.push_back(info.name);
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string near = did_you_mean(name, known);
  return fail(invalid_request("workspace", fmt::format("there is none called '{}'", printable(name)),
                              near.empty() ? "see 'sallyport workspace list'" : near));
}

int make_new(const WorkspaceCommand& command, const Environment& environment, ConsoleEvents& events) {
  const fs::path state_dir = state_dir_of(command, environment);
  const Result<std::vector<WorkspaceInfo>> known = Workspace::list(state_dir);
  if (!known) return report(known.error(), command.format);
  if (std::ranges::find(*known, command.words.front(), &WorkspaceInfo::name) != known->end()) {
    return report(
        invalid_request("workspace", fmt::format("there is one called '{}'", printable(command.words.front())),
                        "choose another name, or discard it"),
        command.format);
  }
  const Result<std::unique_ptr<Workspace>> made =
      Workspace::open({.repo = repo_of(command, environment, events),
                       .state_dir = state_dir,
                       .name = command.words.front(),
                       .quota = command.quota,
                       .mechanism = command.copy ? WorkspaceMechanism::kCopy : WorkspaceMechanism::kAuto,
                       .events = &events});
  if (!made) return report(made.error(), command.format);
  if (command.format == Format::kText) {
    say(fmt::format("made {} over {}, with {} to write", (*made)->name(), printable((*made)->repo().native()),
                    format_bytes((*made)->quota())));
    return kExitOk;
  }
  return print_record({{"schema", "sallyport.workspace_new/1"},
                       {"workspace", (*made)->name()},
                       {"repo", json_text((*made)->repo().native())},
                       {"quota_bytes", count((*made)->quota())}},
                      kExitOk);
}

int show_patch(Workspace& workspace, const WorkspaceDiff& diff, Format format) {
  std::string text;
  for (const Change& change : diff.changes) {
    if (change.before == FileType::kDirectory && change.after == FileType::kNone) continue;
    if (change.after == FileType::kDirectory && change.before == FileType::kNone) continue;
    const Result<std::string> patch = workspace.patch(change);
    if (!patch) return report(patch.error(), format);
    text += *patch;
  }
  // Unchanged for `git apply`; escaped for a terminal.
  return print_text(::isatty(STDOUT_FILENO) == 1 ? printable_lines(text) : text, kExitOk);
}

int show_diff(const WorkspaceCommand& command, Workspace& workspace) {
  const Result<WorkspaceDiff> diff = workspace.diff();
  if (!diff) return report(diff.error(), command.format);
  if (command.patch) return show_patch(workspace, *diff, command.format);
  if (command.format == Format::kJson) return print_record(workspace_diff_record(workspace.name(), *diff), kExitOk);
  return print_text(diff_text(*diff, workspace.quota()), kExitOk);
}

int commit_changes(const WorkspaceCommand& command, Workspace& workspace) {
  const Result<CommitReport> done =
      workspace.commit({.patterns = {command.words.begin() + 1, command.words.end()},
                        .all = command.all,
                        .flagged = command.include_flagged ? Flagged::kCommitted : Flagged::kLeftOut,
                        .mode = command.dry_run ? CommitMode::kDryRun : CommitMode::kWrite});
  if (!done) return report(done.error(), command.format);
  const bool conflict = done->has(CommitAction::kConflict);
  const int code = conflict ? kExitConflict : kExitOk;
  if (command.format == Format::kJson) return print_record(workspace_commit_record(workspace.name(), *done), code);
  const int printed = print_text(commit_text(*done), code);
  if (conflict) {
    say("error: nothing was written: the host's files changed since the workspace was made");
    say_hint("commit other paths, or take the host's side: 'sallyport workspace diff --patch' shows yours");
  } else if (command.dry_run) {
    say("nothing was written: a dry run");
  } else if (done->has(CommitAction::kLeftFlagged)) {
    say_hint("what would run later was left out; --include-flagged commits that, too");
  }
  return printed;
}

int act(const WorkspaceCommand& command, const Environment& environment) {
  ConsoleEvents events(command.format, Verbosity::kNormal);
  if (command.what == "list") {
    const Result<std::vector<WorkspaceInfo>> all = Workspace::list(state_dir_of(command, environment));
    if (!all) return report(all.error(), command.format);
    if (command.format == Format::kJson) return print_record(workspace_list_record(*all), kExitOk);
    return print_text(list_text(*all), kExitOk);
  }
  if (command.what == "new") return make_new(command, environment, events);
  if (command.what == "discard") {
    const Status gone = Workspace::discard(state_dir_of(command, environment), command.words.front());
    return gone ? kExitOk : report(gone.error(), command.format);
  }
  const Result<std::unique_ptr<Workspace>> workspace = open_existing(command, environment, events);
  if (!workspace) return report(workspace.error(), command.format);
  return command.what == "diff" ? show_diff(command, **workspace) : commit_changes(command, **workspace);
}

template <auto kMember>
Status set_true(WorkspaceCommand& command, std::string_view /*value*/) {
  command.*kMember = true;
  return {};
}
template <std::optional<fs::path> WorkspaceCommand::* kMember>
Status set_place(WorkspaceCommand& command, std::string_view value) {
  command.*kMember = fs::path(value);
  return {};
}
Status set_quota(WorkspaceCommand& command, std::string_view value) {
  command.quota = TRY(parse_bytes(value, "quota"));
  return {};
}
Status set_workspace_json(WorkspaceCommand& command, std::string_view /*value*/) {
  command.format = Format::kJson;
  return {};
}

constexpr auto kWorkspaceOptions = std::to_array<Option<WorkspaceCommand>>(
    {{{"--workspace-dir", Arity::kValue}, set_place<&WorkspaceCommand::state_dir>},
     {{"--repo", Arity::kValue}, set_place<&WorkspaceCommand::repo>},
     {{"--quota", Arity::kValue}, set_quota},
     {{"--copy", Arity::kFlag}, set_true<&WorkspaceCommand::copy>},
     {{"--patch", Arity::kFlag}, set_true<&WorkspaceCommand::patch>},
     {{"--all", Arity::kFlag}, set_true<&WorkspaceCommand::all>},
     {{"--include-flagged", Arity::kFlag}, set_true<&WorkspaceCommand::include_flagged>},
     {{"--dry-run", Arity::kFlag}, set_true<&WorkspaceCommand::dry_run>},
     {{"--json", Arity::kFlag}, set_workspace_json}});

constexpr auto kWhat = std::to_array<std::string_view>({"new", "run", "diff", "commit", "discard", "list"});

Status check_words(const WorkspaceCommand& command) {
  const bool is_list = command.what == "list";
  const std::size_t most = is_list ? 0 : command.what == "commit" ? command.words.size() : 1;
  if (command.words.size() > most) return fail(superfluous_word(command.words[most]));
  // An empty name is probably a script's unset variable; the library would make an anonymous workspace that ends with
  // this process.
  if (is_list || (!command.words.empty() && !command.words.front().empty())) return {};
  return fail(invalid_request("workspace", "no name was given", "see 'sallyport help workspace'"));
}

// The same as `sallyport run --workspace NAME …`.
Result<Action> parse_workspace_run(Args args, Format& format) {
  if (args.size() < 2 || args.front().starts_with('-')) {
    read_format(args, format);
    return fail(invalid_request("workspace", "run needs a name and a tool",
                                "sallyport workspace run NAME [OPTIONS] -- TOOL [ARGS]"));
  }
  std::vector<std::string> words = {"--workspace", args.front()};
  words.insert(words.end(), args.begin() + 1, args.end());
  return find_verb("run")->parse(words, format);
}

Result<Action> parse_workspace(Args args, Format& format) {
  if (!args.empty() && args.front() == "run") return parse_workspace_run(args.subspan(1), format);
  OptionWalker walker(args, kWorkspaceOptions, format);
  WorkspaceCommand command;
  while (true) {
    const Token token = TRY(walker.next());
    if (token.kind == Token::Kind::kEnd) break;
    if (token.kind == Token::Kind::kHelp) return Action();
    if (token.kind == Token::Kind::kOperand) {
      if (command.what.empty()) {
        command.what = std::string(token.value);
      } else {
        command.words.emplace_back(token.value);
      }
    }
    if (token.kind == Token::Kind::kOption) TRY(kWorkspaceOptions[token.index].apply(command, token.value));
  }
  if (std::ranges::find(kWhat, command.what) == kWhat.end()) {
    const std::vector<std::string_view> known(kWhat.begin(), kWhat.end());
    const std::string near = did_you_mean(command.what, known);
    return fail(invalid_request(
        "workspace", command.what.empty() ? "no subcommand" : fmt::format("cannot '{}' one", printable(command.what)),
        near.empty() ? "see 'sallyport help workspace'" : near));
  }
  TRY(check_words(command));
  return [command = std::move(command)](const Environment& environment) { return act(command, environment); };
}

constexpr std::string_view kWorkspacePage =
    R"(usage: sallyport workspace new|run|diff|commit|discard|list [NAME] [OPTIONS]
Let runs write a repo without touching it, see what they did, keep what you want

  new NAME       make one [over the repo here]; --repo DIR --quota 4G --copy
  run NAME [OPTIONS] -- TOOL [ARGS]      as run --workspace NAME; makes one, too
  diff NAME           every change, and what would run later; --patch --json
  commit NAME PATTERN... | --all         write changes back into the repo
    --dry-run           only say what would be done
    --include-flagged   also what would run later [left out]
  discard NAME        remove it; also one that list shows as stale or broken
  list                names, states and repos
  --workspace-dir DIR where they live [~/.local/state/sallyport/workspaces]

A PATTERN is a path, or has *, ? and **; a directory means all below it. When
the host's file changed since, nothing is written at all.

exit codes: 0 done, 1 a commit met a conflict, 125 refused

example:
  sallyport workspace run try --allow-registry -- npm ci
  sallyport workspace diff try
  sallyport workspace commit try package-lock.json
)";

}  // namespace

extern constinit const Verb kWorkspaceVerb{.name = "workspace",
                                           .summary = "a repo that can be written without being touched",
                                           .page = kWorkspacePage,
                                           .parse = parse_workspace};

}  // namespace sallyport::cli
