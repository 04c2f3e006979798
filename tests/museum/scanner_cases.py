"""Repos that attack the scanners. strace, node and rg are the real programs; the others are in standins.py."""

import standins
from museum import Case

SECRET = "key = 'SECRET-0123456789'\n"


def library(room, name):
    """A shared library that fires when it is loaded."""
    source = room.write("evil.c", '#include <stdio.h>\n__attribute__((constructor)) static void fire(void) {\n'
                                  f'  FILE* f = fopen("{room.canary}", "a"); if (f) {{ fputs("fired", f); fclose(f); }}\n}}\n')
    room.do("cc", "-shared", "-fPIC", "-o", name, source)


def ast_grep_config(room):
    standins.install(room, "ast-grep")
    library(room, "evil.so")
    room.write("sgconfig.yml", "ruleDirs: []\ncustomLanguages:\n  evil:\n    libraryPath: evil.so\n    extensions: [evil]\n")
    room.write("a.js", "let a = 1\n")


def yarn_path(room):
    standins.install(room, "scip-typescript", "yarn")
    room.payload("yarn.sh")
    room.write(".yarnrc.yml", "yarnPath: ./yarn.sh\n")


def planted(*names, tools=()):
    """Every name is a symlink to the canary, which does not exist yet."""
    def make(room):
        standins.install(room, *tools)
        for name in names:
            (room.repo / name).parent.mkdir(parents=True, exist_ok=True)
            (room.repo / name).symlink_to(room.canary)
        room.write("a.py", SECRET)
    return make


def planted_directory(tools):
    def make(room):
        standins.install(room, *tools)
        (room.repo / "reports").symlink_to(room.out)
        room.write("a.py", SECRET)
    return make


def fsmonitor(room):
    room.git("init", "-q")
    room.write("go.mod", "module evil.test\n")
    room.git("add", ".")
    room.git("commit", "-qm", "x")
    room.git("config", "core.fsmonitor", room.payload("evil.sh"))


def go_module(*tools):
    def make(room):
        standins.install(room, *tools)
        fsmonitor(room)
    return make


def config_writes(tool, name, text):
    def make(room):
        standins.install(room, tool)
        room.write(name, text.format(canary=room.canary))
    return make


def textconv(room):
    standins.install(room, "gitleaks")
    room.git("init", "-q")
    room.write(".gitattributes", "*.py diff=evil\n")
    room.write("a.py", SECRET)
    room.git("add", ".")
    room.git("commit", "-qm", "x")
    room.git("config", "diff.evil.textconv", f"sh -c \"echo fired >>'{room.canary}'; cat $1\" --")


def secret_hidden_by(name, text):
    def make(room):
        standins.install(room, "gitleaks")
        room.write("a.py", SECRET)
        room.write(name, text)
    return make


def report_is_empty(room):
    """The scan ended, and found nothing: the repo has blinded it."""
    report = room.repo / "report.json"
    return report.exists() and report.read_text() == "[]"


def rule_with_code(room):
    standins.install(room, "semgrep")
    room.write("rule.yml", f"rules:\n  - id: x\n    pattern-where-python: open('{room.canary}', 'w').write('fired')\n")


def gradle(room):
    standins.install(room, "semgrep")
    room.payload("gradlew")


def grammar(room):
    standins.install(room, "tree-sitter")
    library(room, "unused.so")
    (room.repo / "src").mkdir()
    (room.repo / "evil.c").rename(room.repo / "src/parser.c")


def script(room):
    room.write("index.js", f"require('fs').writeFileSync('{room.canary}', 'fired')\n")


def preprocessor(room):
    room.payload("evil.sh")
    room.write("a.txt", "x\n")


def git_repo(room):
    room.git("init", "-q")


def links_and_git(room):
    git_repo(room)
    (room.repo / "trace.txt").symlink_to(room.canary)


def patch_symlink(room):
    room.git("init", "-q")
    room.write("a.txt", "x\n")
    room.git("add", ".")
    room.git("commit", "-qm", "evil")
    (room.repo / "0001-evil.patch").symlink_to(room.canary)


UNJAILED = ["--allow-unjailed"]
DETECT = ["gitleaks", "dir", "-r", "report.json"]

CASES = [
    Case("ast_grep_custom_language", "sgconfig.yml names a shared library as a language, and ast-grep loads it",
         ast_grep_config, ["ast-grep", "run", "-p", "let a = $A", "-l", "js"], "silent", needs=["cc"]),
    Case("ast_grep_default_command", "the same without a subcommand", ast_grep_config,
         ["ast-grep", "-p", "let a = $A", "-l", "js"], "silent", needs=["cc"]),
    Case("ast_grep_named_config", "the caller is led to name the repo's own configuration", ast_grep_config,
         ["ast-grep", "run", "-c", "sgconfig.yml", "-p", "let a = $A", "-l", "js"], "refused", needs=["cc"]),
    Case("scip_yarn_path", ".yarnrc.yml names the program that yarn runs instead of itself", yarn_path,
         ["scip-typescript", "index", "--yarn-workspaces"], "refused"),
    Case("scip_index_symlink", "index.scip is a symlink to a file outside", planted("index.scip", tools=["scip-typescript"]),
         ["scip-typescript", "index"], "refused"),
    Case("scip_output_below_symlink", "the output's directory is a symlink to one outside",
         planted_directory(["scip-typescript"]), ["scip-typescript", "index", "--output", "reports/canary"], "refused"),
    Case("scip_inferred_tsconfig", "tsconfig.json is a dangling symlink, which counts as missing and is written",
         planted("tsconfig.json", tools=["scip-typescript"]), ["scip-typescript", "index", "--infer-tsconfig"], "refused"),
    Case("syft_go_tools", "syft starts the Go tools, these start git for a version, and git the repo's fsmonitor",
         go_module("syft"), ["syft", "dir:."], "silent", needs=["git"]),
    Case("syft_config", ".syft.yaml in cwd makes syft write where the repo says",
         config_writes("syft", ".syft.yaml", "output: json={canary}\n"), ["syft", "dir:."], "refused"),
    Case("syft_report_symlink", "the report is a symlink to a file outside", planted("sbom.json", tools=["syft"]),
         ["syft", "dir:.", "-o", "json=sbom.json"], "refused"),
    Case("grype_go_tools", "as syft_go_tools, and grype has no switch against it", go_module("grype"),
         ["grype", "dir:."], "silent", needs=["git"]),
    Case("grype_config", ".grype.yaml in cwd makes grype write where the repo says",
         config_writes("grype", ".grype.yaml", "file: {canary}\n"), ["grype", "dir:."], "refused"),
    Case("grype_report_symlink", "the report is a symlink to a file outside", planted("r.json", tools=["grype"]),
         ["grype", "dir:.", "--file", "r.json"], "refused"),
    Case("gitleaks_textconv", "git log -p runs the repo's textconv program", textconv, ["gitleaks", "git"], "silent",
         needs=["git"]),
    Case("gitleaks_textconv_with_revisions", "the same when the caller gives --log-opts", textconv,
         ["gitleaks", "git", "--log-opts=HEAD"], "silent", needs=["git"]),
    Case("gitleaks_log_opts_output", "a name from the repo becomes an option of git log that writes a file", textconv,
         lambda room: ["gitleaks", "git", f"--log-opts=--no-textconv --output={room.canary}"], "refused", needs=["git"]),
    Case("gitleaks_config", ".gitleaks.toml of the repo replaces the rules, so the secret is not found",
         secret_hidden_by(".gitleaks.toml", "title = 'no rules'\n"), DETECT, "silent", options=["--writable-repo"],
         fires=report_is_empty),
    Case("gitleaks_ignore_file", ".gitleaksignore of the repo hides the secret",
         secret_hidden_by(".gitleaksignore", "a.py:SECRET:1\n"), DETECT, "refused", options=["--writable-repo"],
         fires=report_is_empty),
    Case("gitleaks_allow_comment", "a comment in the repo hides the secret",
         secret_hidden_by("a.py", SECRET.rstrip() + "  # gitleaks:allow\n"), DETECT, "silent",
         options=["--writable-repo"], fires=report_is_empty),
    Case("gitleaks_report_symlink", "the report is a symlink to a file outside", planted("report.json", tools=["gitleaks"]),
         DETECT, "refused"),
    Case("semgrep_abbreviated_danger", "a rule of the repo holds Python code; the option that runs it is abbreviated",
         rule_with_code, ["semgrep", "--config", "rule.yml", "--dangerously-allow"], "refused"),
    Case("semgrep_local_build", "semgrep runs the repo's build to find its dependencies", gradle,
         ["semgrep", "scan", "--allow-local-builds", "--config", "x.yml"], "refused"),
    Case("semgrep_report_symlink", "the report is a symlink to a file outside", planted("out.sarif", tools=["semgrep"]),
         ["semgrep", "scan", "--config", "x.yml", "-o", "out.sarif"], "refused"),
    Case("tree_sitter_grammar", "parse compiles the grammar of cwd and loads it", grammar, ["tree-sitter", "parse", "a.c"],
         "refused", needs=["cc"], contained=True),
    Case("strace_pipe", "an output that begins with | is a command", git_repo,
         lambda room: ["strace", "-o", f"|touch {room.canary}", "rg", "--version"], "refused", options=UNJAILED,
         needs=["strace", "rg"]),
    Case("strace_output_symlink", "the trace is a symlink to a file outside", links_and_git,
         ["strace", "-o", "trace.txt", "rg", "--version"], "refused", options=UNJAILED, needs=["strace", "rg"]),
    Case("strace_any_program", "strace starts a program that the closed set does not have", preprocessor,
         ["strace", "./evil.sh"], "refused", options=UNJAILED, needs=["strace"]),
    Case("strace_preprocessor", "the traced rg is asked to start the repo's program: its hardening must come with it",
         preprocessor, ["strace", "-f", "rg", "--pre", "./evil.sh", "x", "."], "refused", options=UNJAILED,
         needs=["strace", "rg"]),
    Case("strace_fsmonitor", "the traced git runs the repo's fsmonitor", fsmonitor, ["strace", "-f", "git", "status"],
         "refused", options=UNJAILED, needs=["strace", "git"]),
    Case("strace_unasked", "tracing needs a jail or the caller's word", script, ["strace", "-f", "node", "index.js"],
         "refused", needs=["strace", "node"], contained=True),
    Case("node_script", "node runs the repo's code; without a jail only when asked for by name", script,
         ["node", "index.js"], "refused", needs=["node"], contained=True),
    Case("git_patch_symlink", "the patch that git format-patch will write is a symlink to a file outside", patch_symlink,
         ["git", "format-patch", "-1"], "refused", options=["--writable-repo"], needs=["git"]),
    Case("rg_preprocessor", "rg starts a program of the repo for every file", preprocessor,
         ["rg", "--pre", "./evil.sh", "x", "."], "refused", needs=["rg"]),
]
