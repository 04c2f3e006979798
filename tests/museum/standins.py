"""Stand-ins for scanners that cannot be installed where the tests run.

Each obeys the real program's documented command line for the behaviour a case attacks, and nothing else: where it looks
for configuration, what it starts, where it writes. The sources they were written from are named in docs/hardening.md. A
directory of real programs in SALLYPORT_REAL_TOOLS is preferred: `ast-grep` and `scip-typescript` were tried that way.
"""

import os
import shutil
from pathlib import Path

HEAD = '''#!/usr/bin/python3
import ctypes, json, os, re, subprocess, sys
from pathlib import Path
args = sys.argv[1:]

def take(*names, default=None):
    """The value of the last such option; takes it out."""
    value, rest, i = default, [], 0
    while i < len(args):
        word = args[i]
        name, equals, attached = word.partition("=")
        if name in names:
            if not equals:
                i += 1
                attached = args[i]
            value = attached
        else:
            rest.append(word)
        i += 1
    args[:] = rest
    return value

def flag(*names):
    found = any(word in names for word in args)
    args[:] = [word for word in args if word not in names]
    return found

def key(file, name):
    """The value of `name: value` in a file."""
    found = re.search(rf"^\\s*{name}:\\s*(.+)$", Path(file).read_text(), re.M)
    return found.group(1).strip().strip('"') if found else None

def write(path, text):
    if path == "-":
        print(text)
    elif path:
        with open(path, "w") as out:  # through a symlink, as open(2) does
            out.write(text)
'''

# customLanguages: libraryPath is loaded as soon as the configuration is read. 0.40: sgconfig.yml from cwd upwards.
AST_GREP = '''
if args[:1] and args[0] in ("run", "scan", "test"):
    args.pop(0)
config = take("-c", "--config")
if config is None:
    for place in [Path.cwd(), *Path.cwd().parents]:
        if (place / "sgconfig.yml").exists():
            config = place / "sgconfig.yml"
            break
if config:
    library = key(config, "libraryPath")
    if library:
        ctypes.CDLL(str((Path(config).parent / library).absolute()))
print("searched")
'''

SCIP_TYPESCRIPT = '''
assert args.pop(0) == "index"
cwd = Path(take("--cwd", default="."))
if flag("--yarn-workspaces", "--yarn-berry-workspaces"):
    subprocess.run("yarn --json workspaces list", shell=True, cwd=cwd)
if flag("--pnpm-workspaces"):
    subprocess.run("pnpm ls -r --depth -1 --long --parseable", shell=True, cwd=cwd)
output = cwd / take("--output", default="index.scip")
write(output, "index")
if flag("--infer-tsconfig") and not (cwd / "tsconfig.json").exists():
    write(cwd / "tsconfig.json", "{}")
'''

# yarn runs the program that .yarnrc.yml names instead of itself.
YARN = '''
subprocess.run(["sh", key(".yarnrc.yml", "yarnPath")])
'''

# The Go cataloger loads packages with the Go tools, and these ask git for a version stamp.
GO = '''
def go_packages():
    if Path("go.mod").exists() and "-buildvcs=false" not in os.environ.get("GOFLAGS", ""):
        subprocess.run(["git", "status", "--porcelain"], stdout=subprocess.DEVNULL)
'''

SYFT = GO + '''
config = take("-c", "--config") or (".syft.yaml" if Path(".syft.yaml").exists() else None)
outputs = [take("-o", "--output", default="table")]
if config:
    outputs.append(key(config, "output") or "table")
if os.environ.get("SYFT_GOLANG_USE_PACKAGES_LIB") != "false":
    go_packages()
for output in outputs:
    write(output.partition("=")[2], "packages")
'''

GRYPE = GO + '''
config = take("-c", "--config") or (".grype.yaml" if Path(".grype.yaml").exists() else None)
go_packages()
write(take("--file") or (key(config, "file") if config else None), "matches")
'''

# 8.30: configuration from -c, GITLEAKS_CONFIG_TOML, then the scanned place; ignore files of cwd and the scanned place;
# git log with the words of --log-opts.
GITLEAKS = '''
command = args.pop(0)
flag("--no-banner", "--no-color", "-v")
take("--max-archive-depth")
allow = not flag("--ignore-gitleaks-allow")
ignore = take("-i", "--gitleaks-ignore-path", default=".")
config = take("-c", "--config")
report = take("-r", "--report-path")
log = take("--log-opts")
source = Path(take("-s", "--source", default=".") if not args else args[0])
rules = "default"
if config:
    rules = Path(config).read_text()
elif os.environ.get("GITLEAKS_CONFIG_TOML"):
    rules = "default" if "useDefault = true" in os.environ["GITLEAKS_CONFIG_TOML"] else ""
elif (source / ".gitleaks.toml").exists():
    rules = (source / ".gitleaks.toml").read_text()
ignored = ""
for file in (Path(ignore), Path(ignore) / ".gitleaksignore", source / ".gitleaksignore"):
    if file.is_file() or str(file) == "/dev/null":
        ignored += file.read_text()
text = ""
if command in ("git", "detect"):
    words = log.split(" ") if log else ["--full-history", "--all", "--diff-filter=tuxdb"]
    text = subprocess.run(["git", "-C", str(source), "log", "-p", "-U0", *words], stdout=subprocess.PIPE,
                          text=True).stdout
else:
    for file in sorted(source.rglob("*")):
        if file.is_file() and ".git" not in file.parts and not file.name.startswith(".gitleaks"):
            text += file.read_text(errors="replace")
found = [line for line in text.splitlines() if "SECRET" in line and not (allow and "gitleaks:allow" in line)]
if rules != "default" or "SECRET" in ignored:
    found = []
write(report, json.dumps(found))
sys.exit(1 if found else 0)
'''

# cmdliner, which reads the command line first, completes abbreviations.
SEMGREP = '''
dangerous = "--dangerously-allow-arbitrary-code-execution-from-rules"
if args[:1] == ["scan"]:
    args.pop(0)
abbreviated = [word for word in args if len(word) > 5 and dangerous.startswith(word)]
builds = flag("--allow-local-builds")
config = take("-c", "-f", "--config")
write(take("-o", "--output"), "findings")
if abbreviated and config:
    exec(key(config, "pattern-where-python"))
if builds and Path("gradlew").exists():
    subprocess.run(["./gradlew", "dependencies"])
'''

# parse compiles the grammar of cwd and loads it.
TREE_SITTER = '''
assert args.pop(0) == "parse"
if Path("src/parser.c").exists():
    library = Path(os.environ.get("TMPDIR", "/tmp")) / f"parser-{os.getpid()}.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, "src/parser.c"], check=True)
    ctypes.CDLL(str(library))
    library.unlink()
'''

TEXTS = {"ast-grep": AST_GREP, "scip-typescript": SCIP_TYPESCRIPT, "yarn": YARN, "syft": SYFT, "grype": GRYPE,
         "gitleaks": GITLEAKS, "semgrep": SEMGREP, "tree-sitter": TREE_SITTER}


def install(room, *names):
    """Puts the tools into room.tools, which is on PATH and is not the repo's."""
    for name in names:
        place = room.tools / name
        folder = os.environ.get("SALLYPORT_REAL_TOOLS")
        if folder and (Path(folder) / name).exists():
            shutil.copy(Path(folder) / name, place)
        else:
            place.write_text(HEAD + TEXTS[name], encoding="utf-8")
        place.chmod(0o755)
