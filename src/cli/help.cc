// sallyport help and --version. Each page fits one screen, 24 lines of 80 columns; a test holds it to that.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/verbs.h"

namespace sallyport::cli {
namespace {

constexpr std::string_view kOverview = R"(usage: sallyport VERB [OPTIONS]
The one gate through which programs start other programs over untrusted code.

  run        run one allowlisted tool over a repo, behind a jail
  explain    print what run would do; starts nothing, writes nothing
  doctor     which jails work here; --attack tries to break out of one
  allowlist  the closed set of tools that can be run
  help VERB  one screen on a verb (also: VERB --help)
  --version  the version

Every verb takes --json: one record on stdout, its shape named by "schema".

exit codes of run: the tool's own, or
  124 timed out          125 refused, set-up failed, or wrong usage
  126 not runnable       127 tool missing
  137 out of memory      128+n ended by signal n

examples:
  sallyport run -- git rev-parse HEAD
  sallyport explain --require net.isolated -- rg -n TODO
  sallyport allowlist show git
)";

constexpr std::string_view kRun = R"(usage: sallyport run [OPTIONS] [--] TOOL [ARGS]
Run one allowlisted tool over a repo you do not trust.

  --repo DIR            the analysed repo [nearest .git above --cwd, else --cwd]
  --cwd DIR             where the tool runs, inside the repo [here, or --repo]
  --timeout 60s         then the tool and all it started is killed
  --cpu 30s, --memory 512M, --pids 128, --disk 256M      more limits
  --max-output 64M      how much of stdout and of stderr is kept, from the end
  --jail KIND           auto (native, else bwrap), native, bwrap, none [auto]
  --require G,G         refuse unless these guarantees hold
  --ro PATH, --rw PATH  show one more path, read-only or writable (repeatable)
  --writable-repo, --writable-git   may write the repo; what git executes, too
  --allow-unjailed, --allow-speculation  node without a jail; no Spectre locks
  --allow-host H[:PORT][=ADDR:PORT]   may reach this host (repeatable) [none]
  --allow-registry      may reach the registry that your own npm is set to
  --strict-network      end the run at the first refused connection
  --env NAME=VALUE      one more variable (repeatable)
  --stdin, --raw-stdin  copy our stdin to the tool; hand over the descriptor
  --policy FILE         another closed set; never a file inside the repo
  --json, --verbose, --probe NAME   one record; debug events; a name for events

exit codes: see sallyport help
example:
  sallyport run --timeout 5s --require net.isolated -- git log --oneline
)";

constexpr std::string_view kExplain = R"(usage: sallyport explain [OPTIONS] [--] TOOL [ARGS]
Print what run would do with the same options: the binary and its hash, the
full command with its hardening, environment, limits, jail and guarantees.
Nothing is started (but npm, to be asked, with --allow-registry) or written.

Takes every option of run (sallyport help run); it refuses what run refuses,
with the same exit codes: 125 refused, 126 not runnable, 127 tool missing.

examples:
  sallyport explain -- git status
  sallyport explain --json --jail bwrap --memory 512M -- npm install
)";

constexpr std::string_view kDoctor = R"(usage: sallyport doctor [--attack [--only NAME]] [--jail KIND] [--json]
Show which jails work on this machine, by using each one once.

  --attack      make every attack we know, with and without the jail
  --only NAME   just this one of them
  --jail KIND   only this one: native, bwrap, none [auto: the first that works]
  --json        one record: {"schema":"sallyport.doctor/1", ...}, with
                --attack {"schema":"sallyport.attacks/1","attacks":[...]}

An attack counts only when it works without a jail; where it does not, the
table says so. It runs a copy of itself, in directories it makes and removes,
and harms nothing. With --jail none you see what is left when nothing guards.

exit codes: 0 held, 1 an attack got through or no jail works, 125 wrong usage

examples:
  sallyport doctor
  sallyport doctor --attack --jail bwrap
)";

constexpr std::string_view kAllowlist =
    R"(usage: sallyport allowlist [list | show NAME | check] [--policy FILE] [--json]
The closed set of tools that can be run, and who decided that.

  list           every entry (the default)
  show NAME      one entry
  check          parse the --policy file; errors carry line and column
  --policy FILE  the set in FILE instead of the built-in one
  --json         one record: {"schema":"sallyport.allowlist/1","tools":[...]}

exit codes: 0, or 125 for a wrong policy or an unknown name

examples:
  sallyport allowlist list
  sallyport allowlist show rg --json
  sallyport allowlist check --policy tools.toml
)";

std::string_view page(HelpTopic topic) {
  switch (topic) {
    case HelpTopic::kOverview:
      return kOverview;
    case HelpTopic::kRun:
      return kRun;
    case HelpTopic::kExplain:
      return kExplain;
    case HelpTopic::kDoctor:
      return kDoctor;
    case HelpTopic::kAllowlist:
      return kAllowlist;
  }
  return kOverview;
}

}  // namespace

int help_verb(const HelpRequested& command) { return print_text(page(command.topic), kExitOk); }

int version_verb(const VersionRequested& command) {
  if (command.format == Format::kText) return print_text(fmt::format("sallyport {}\n", SALLYPORT_VERSION), kExitOk);
  return print_record({{"schema", "sallyport.version/1"}, {"version", SALLYPORT_VERSION}}, kExitOk);
}

}  // namespace sallyport::cli
