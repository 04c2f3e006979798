#include "core/policy/hardening/git_keys.h"

#include <algorithm>
#include <array>

namespace sallyport::hardening {
namespace {

constexpr std::string_view kFilter = "runs when git compares, adds or checks out a file";
constexpr std::string_view kDiffDriver = "runs when git shows a difference";
constexpr std::string_view kHook = "git 2.54 and later start it as a hook";
constexpr std::string_view kNoCommand = "the commands that use it are refused; this is the second lock";
constexpr std::string_view kFileRead = "names a file git reads, anywhere on the host";
constexpr std::string_view kFileWritten = "names a file git writes, anywhere on the host";
constexpr std::string_view kTransport = "decides what a transfer runs, or where it goes";

// An empty value switches off filters, helpers and lists. No value switches off a driver for diffs or merges: there we
// set a neutral program that does what git does without a driver.
constexpr auto kKeyRules = std::to_array<GitKeyRule>({
    {"filter.*.required", "false", "without its command a required filter fails"},
    {"filter.*", "", kFilter},
    {"diff.*.textconv", "cat", kDiffDriver},
    {"diff.*.cachetextconv", "false", "writes a ref"},
    {"diff.*.command", "true", kDiffDriver},
    {"diff.external", "true", kDiffDriver},
    {"diff.orderfile", "/dev/null", kFileRead},
    {"merge.*.driver", "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B",
     "runs when git merges, and for log --remerge-diff"},
    {"tar.*.command", "", "git archive pipes its output through it"},
    {"hook.*.command", "true", kHook},
    {"hook.*.event", "", kHook},
    {"hook.*.enabled", "false", kHook},
    {"trailer.*.command", "true", "runs when a trailer is added"},
    {"trailer.*.cmd", "true", "runs when a trailer is added"},
    {"alias.*", "", "newer git prefers it to a deprecated command; merge strategies and helpers are looked up as one"},
    {"pager.*", "false", "names a program for a command's output"},
    {"interactive.difffilter", "cat", "runs for add -p"},
    {"sequence.editor", ":", "runs for rebase -i"},
    {"core.gitproxy", "", kTransport},
    {"core.attributesfile", "/dev/null", kFileRead},
    {"core.excludesfile", "/dev/null", kFileRead},
    {"gpg.*.program", "false", "runs to sign or verify"},
    {"gpg.*.defaultkeycommand", "false", "runs to sign"},
    {"gpg.*.allowedsignersfile", "/dev/null", kFileRead},
    {"gpg.*.revocationfile", "/dev/null", kFileRead},
    {"credential.*.helper", "", "runs to ask for a password"},
    {"http.*.cookiefile", "", kFileRead},
    {"http.*.savecookies", "false", "writes what the server says into http.cookieFile"},
    {"http.*.sslverify", "true", kTransport},
    {"http.*.sslcert", "", kFileRead},
    {"http.*.sslkey", "", kFileRead},
    {"http.*.sslcerttype", "PEM", "another type loads an engine"},
    {"http.*.sslkeytype", "PEM", "another type loads an engine"},
    {"http.*.proxysslcert", "", kFileRead},
    {"http.*.proxysslkey", "", kFileRead},
    {"http.*.proxysslcainfo", "", kFileRead},
    {"http.*.proxy", "", kTransport},
    {"http.*.curloptresolve", "", kTransport},
    {"http.*.delegation", "none", "hands the caller's Kerberos identity on"},
    {"remote.*.vcs", "", "names a remote helper to run"},
    {"remote.*.proxy", "", kTransport},
    {"fetch.bundleuri", "", kTransport},
    {"uploadpack.packobjectshook", "", kTransport},
    {"submodule.*.update", "none", "\"!command\" runs for submodule update"},
    {"branch.*.mergeoptions", "", "adds options to git merge"},
    {"pull.twohead", "ort", "names a merge strategy, which is a program"},
    {"pull.octopus", "octopus", "names a merge strategy, which is a program"},
    {"rebase.instructionformat", "%s", "with a line break in it, it adds exec lines to every rebase"},
    {"log.diffmerges", "separate", "\"remerge\" merges, with merge drivers, to show a log"},
    {"blame.ignorerevsfile", "", "names a file whose lines git prints when they are no commits"},
    {"mailmap.file", "/dev/null", kFileRead},
    {"commit.template", "/dev/null", kFileRead},
    {"init.templatedir", "", "plants hooks in a new repo"},
    {"format.outputdirectory", ".", kFileWritten},
    {"format.suffix", ".patch", "a suffix with slashes writes anywhere"},
    {"format.signaturefile", "/dev/null", kFileRead},
    {"gc.recentobjectshook", "", kNoCommand},
    {"gc.repackfilterto", "", kNoCommand},
    {"difftool.*", "false", kNoCommand},
    {"mergetool.*", "false", kNoCommand},
    {"guitool.*", "", kNoCommand},
    {"man.*", "", kNoCommand},
    {"browser.*", "", kNoCommand},
    {"instaweb.*", "", kNoCommand},
    {"sendemail.*", "", kNoCommand},
    {"imap.*", "", kNoCommand},
});

constexpr auto kClosedSections =
    std::to_array<std::string_view>({"alias", "core", "credential", "diff", "filter", "gpg", "hook", "http",
                                     "interactive", "merge", "pager", "remote", "sequence", "tar", "trailer"});

struct HarmlessKeys {
  std::string_view section;
  std::string_view names;  // separated by blanks
};

constexpr auto kGitKeysHarmless = std::to_array<HarmlessKeys>({
    {"core",
     " abbrev alternaterefsprefixes autocrlf bare bigfilethreshold checkroundtripencoding checkstat commentchar "
     "commentstring commitgraph compression configlocktimeout createobject deltabasecachelimit eol filemode "
     "filesreflocktimeout fsmonitorhookversion fsync fsyncmethod fsyncobjectfiles hidedotfiles ignorecase ignorestat "
     "lockfilepid logallrefupdates loosecompression maxtreedepth multipackindex notesref packedgitlimit "
     "packedgitwindowsize packedrefstimeout partialclonefilter precomposeunicode prefersymlinkrefs preloadindex "
     "protecthfs protectntfs quotepath repositoryformatversion safecrlf sharedrepository sparsecheckout "
     "sparsecheckoutcone splitindex symlinks trustctime unsetenvvars untrackedcache usereplacerefs warnambiguousrefs "
     "whitespace worktree "},
    {"diff",
     " algorithm autorefreshindex binary colormoved colormovedws context dirstat dstprefix funcname guitool "
     "ignoresubmodules indentheuristic interhunkcontext mnemonicprefix noprefix relative renamelimit renames srcprefix "
     "statgraphwidth statnamewidth submodule suppressblankempty tool trustexitcode wordregex wserrorhighlight "
     "xfuncname "},
    {"merge",
     " autostash branchdesc conflictstyle default defaulttoupstream directoryrenames ff guitool log name recursive "
     "renamelimit renames renormalize stat suppressdest tool verbosity verifysignatures "},
    {"tar", " remote umask "},
    {"hook", " jobs parallel "},
    {"trailer", " ifexists ifmissing key separators where "},
    {"interactive", " singlekey "},
    {"gpg", " format mintrustlevel "},
    {"credential", " interactive protectprotocol sanitizeprompt usehttppath username "},
    // How git checks and asks a server that the repo chose; at most this reads a file, and shows nothing of it.
    {"http",
     " emptyauth extraheader followredirects keepalivecount keepaliveidle keepaliveinterval lowspeedlimit lowspeedtime "
     "maxrequests maxretries maxretrytime minsessions noepsv pinnedpubkey postbuffer proactiveauth proxyauthmethod "
     "proxysslcertpasswordprotected retryafter schannelcheckrevoke schannelusesslcainfo sslbackend sslcainfo sslcapath "
     "sslcertpasswordprotected sslcipherlist ssltry sslversion useragent version "},
    // For uploadpack and receivepack the first value counts, not the last: GIT_ALLOW_PROTOCOL keeps them from running.
    {"remote",
     " advertisedas fetch followremotehead gh-resolved lfspushurl lfsurl mirror negotiationinclude negotiationrestrict "
     "partialclonefilter promisor proxyauthmethod prune prunetags push pushdefault pushurl serveroption "
     "receivepack skipdefaultupdate skipfetchall tagopt token uploadpack url "},
});

constexpr auto kDangerousEndings = std::to_array<std::string_view>(
    {"askpass", "browser",  "clean", "cmd",    "command",  "dir",      "directory", "driver",  "editor",
     "exec",    "external", "file",  "helper", "hook",     "pager",    "path",      "process", "program",
     "proxy",   "script",   "shell", "smudge", "template", "textconv", "tunnel",    "viewer"});

}  // namespace

std::span<const GitKeyRule> git_key_rules() { return kKeyRules; }

bool git_key_is_harmless(std::string_view section, std::string_view name) {
  const auto* const keys = std::ranges::find(kGitKeysHarmless, section, &HarmlessKeys::section);
  if (keys == kGitKeysHarmless.end() || name.find(' ') != std::string_view::npos) return false;
  for (std::size_t at = keys->names.find(name); at != std::string_view::npos; at = keys->names.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (at > 0 && keys->names[at - 1] == ' ' && end < keys->names.size() && keys->names[end] == ' ') return true;
  }
  return false;
}

bool git_section_is_closed(std::string_view section) {
  return std::ranges::find(kClosedSections, section) != kClosedSections.end();
}

bool sounds_dangerous(std::string_view name) {
  return std::ranges::any_of(kDangerousEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

}  // namespace sallyport::hardening
