// strace (read at 6.1 and 6.16): it starts any program, and its output file may be a program too ("|cmd", "!cmd"). The
// program it traces must be a tool of the same closed set and gets its own hardening (core/policy/hardening.cc).
#include <array>

#include "core/policy/hardening/closed_options.h"
#include "core/policy/hardening/hardeners.h"
#include "core/policy/hardening/options.h"

namespace sallyport::hardening {
namespace {

constexpr std::string_view kStraceRunsCode = "it starts another program and can change what that does";
constexpr std::string_view kPipe = "it starts a shell for a value that begins with | or !";
constexpr std::string_view kDaemon = "its tracer would outlive the run's own process";

constexpr auto kStraceOptions = std::to_array<KnownOption>({
    {"--attach", 'p', Takes::kValue, Treat::kRefuse, "it stops and reads another process of the user"},
    {"--env", 'E', Takes::kValue, Treat::kRefuse, "it sets any variable for the traced program, LD_PRELOAD too"},
    {"--user", 'u', Takes::kValue, Treat::kRefuse, "it runs the program as another user"},
    {"--daemonize", 'D', Takes::kMaybeValue, Treat::kRefuse, kDaemon},
    {"--daemonised", 0, Takes::kMaybeValue, Treat::kRefuse, kDaemon},
    {"--daemonized", 0, Takes::kMaybeValue, Treat::kRefuse, kDaemon},
    {"--argv0", 0, Takes::kValue, Treat::kRefuse, "a program can do something else under another name"},
    {"--output", 'o', Takes::kValue, Treat::kOutput, "a symlink planted there would lead the write elsewhere"},
    {"--output-append-mode", 'A'},
    {"--output-separately"},
    {"--columns", 'a', Takes::kValue},
    {"--detach-on", 'b', Takes::kValue},
    {"--summary-only", 'c'},
    {"--summary", 'C'},
    {"--debug", 'd'},
    {"-e", 'e', Takes::kValue},
    {"--follow-forks", 'f'},
    {"-F", 'F'},
    {"--help", 'h'},
    {"--instruction-pointer", 'i'},
    {"--interruptible", 'I', Takes::kValue},
    {"--kill-on-exit"},
    {"--stack-trace", 'k', Takes::kMaybeValue},
    {"--syscall-limit", 0, Takes::kValue},
    {"--syscall-number", 'n'},
    {"--arg-names", 'N'},
    {"--summary-syscall-overhead", 'O', Takes::kValue},
    {"--trace-path", 'P', Takes::kValue},
    {"--quiet", 'q', Takes::kMaybeValue},
    {"--relative-timestamps", 'r', Takes::kMaybeValue},
    {"--string-limit", 's', Takes::kValue},
    {"--summary-sort-by", 'S', Takes::kValue},
    {"--absolute-timestamps", 't', Takes::kMaybeValue},
    {"--syscall-times", 'T', Takes::kMaybeValue},
    {"--summary-columns", 'U', Takes::kValue},
    {"--no-abbrev", 'v'},
    {"--version", 'V'},
    {"--summary-wall-clock", 'w'},
    {"--strings-in-hex", 'x', Takes::kMaybeValue},
    {"--const-print-style", 'X', Takes::kValue},
    {"--decode-fds", 'y', Takes::kMaybeValue},
    {"--decode-pids", 'Y', Takes::kMaybeValue},
    {"--successful-only", 'z'},
    {"--failed-only", 'Z'},
    {"--seccomp-bpf"},
    {"--trace", 0, Takes::kValue},
    {"--signal", 0, Takes::kValue},
    {"--status", 0, Takes::kValue},
    {"--inject", 0, Takes::kValue},
    {"--fault", 0, Takes::kValue},
});
constexpr CommandLine kStraceLine{
    .tool = "strace", .options = kStraceOptions, .attached = Attached::kWhole, .order = Order::kBeforeOperands};

Result<HardenedCommand> harden_strace(Argv argv) {
  const Argv arguments = argv.subspan(1);
  HardenedCommand out{.argv = {argv.begin(), argv.end()}, .env = {}};
  const ReadArguments read = TRY(read_arguments(kStraceLine, arguments));
  for (const GivenOption& given : read.options) {
    if (given.option->treat != Treat::kOutput) continue;
    if (given.value.starts_with('|') || given.value.starts_with('!')) {
      return fail(refused_argument("strace", given.value, kPipe, "name a file"));
    }
  }
  out.files = file_rules(kStraceLine, read);
  // -ff writes FILE.PID, one for each process.
  const std::size_t named = out.files.size();
  for (std::size_t i = 0; i < named; ++i) {
    out.files.push_back(out.files[i]);
    out.files.back().path += ".*";
  }
  if (read.operands.empty()) return out;  // --version, or strace reports the error itself
  out.needs_jail = std::string(kStraceRunsCode);
  out.inner_at = 1 + read.end;
  return out;
}

std::vector<HardeningFact> strace_facts() {
  std::vector<HardeningFact> facts = {
      {HardeningFact::Kind::kRefused, "tracing without a jail", kStraceRunsCode},
      {HardeningFact::Kind::kRefused, "-o '|CMD', -o '!CMD'", kPipe},
      {HardeningFact::Kind::kRefused, "a program that is no tool of the closed set, or one that starts git",
       "strace would start it past the gate"},
      {HardeningFact::Kind::kForced, "the traced tool's own hardening", "strace is no way around it"},
  };
  add_facts(facts, kStraceOptions);
  return facts;
}

AdmittedWords strace_admitted() { return admitted_of(kStraceOptions); }

}  // namespace

extern constinit const HardeningRow kStraceHardening{.name = "strace",
                                                     .harden = by_argv<harden_strace>,
                                                     .facts = strace_facts,
                                                     .admitted = strace_admitted,
                                                     .may_trace = true};

}  // namespace sallyport::hardening
