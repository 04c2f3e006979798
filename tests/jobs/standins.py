"""Scanners that obey the documented command line, and scanners that misbehave. Small programs, put on a search path of the
test's own."""

HEAD = "#!/usr/bin/python3\nimport json, os, signal, sys, time\nargs = sys.argv[1:]\n"

# What an honest run of each would print over the repo; as docs/probes.md says, from their documented formats.
HONEST = {
    "gitleaks": '''
print("9:00AM INF scanned ~1234 bytes (1.23 KB) in 15ms", file=sys.stderr)
place = next(word for word in args[1:] if word.startswith("."))
found = []
for root, _, names in os.walk(place) if os.path.isdir(place) else [(os.path.dirname(place), [], [os.path.basename(place)])]:
    # As the real one: an ignore file of the scanned place counts, whatever the options say.
    if os.path.exists(os.path.join(place, ".gitleaksignore")):
        continue
    for name in names:
        path = os.path.join(root, name)
        for number, line in enumerate(open(path, errors="replace"), 1):
            if "LEAKED" in line:
                found.append({"RuleID": "generic", "Description": "", "StartLine": number, "EndLine": number, "StartColumn": 1,
                              "EndColumn": 9, "Match": line, "Secret": line.strip(), "File": path, "Fingerprint": "f"})
print(json.dumps(found))
sys.exit(int(args[args.index("--exit-code") + 1]) if found else 0)
''',
    "syft": '''
print(json.dumps({"artifacts": [{"name": "left-pad", "version": "1.3.0", "locations": [{"path": "/package-lock.json"}],
                                 "purl": "pkg:npm/left-pad@1.3.0"}],
                  "source": {"type": "directory"}, "descriptor": {"name": "syft"}, "schema": {"version": "16.0.1"}}))
''',
    "grype": '''
print(json.dumps({"matches": [], "ignoredMatches": [], "source": {"type": "directory"},
                  "descriptor": {"name": "grype", "db": {"status": {}}}}))
''',
    "semgrep": '''
given = [a for a in args if a.startswith("./") or a == "."]
files = []
for place in given:
    if os.path.isfile(place):
        files.append(place)
    else:
        files += [os.path.join(root, name) for root, _, names in os.walk(place) for name in names if name.endswith(".py")]
hide = os.path.exists(".semgrepignore")
scanned, skipped, results = [], [], []
for path in files:
    path = os.path.relpath(path)
    if hide and "./" + path not in given:
        skipped.append({"path": path, "reason": "semgrepignore_patterns_match"})
        continue
    scanned.append(path)
    for number, line in enumerate(open(path, errors="replace"), 1):
        if "os.system" in line:
            results.append({"check_id": "sallyport.python.shell", "path": path, "start": {"line": number, "col": 1},
                            "end": {"line": number, "col": 9}, "extra": {"message": line, "severity": "ERROR"}})
print(json.dumps({"version": "1.93.0", "results": results, "errors": [], "paths": {"scanned": scanned, "skipped": skipped}}))
''',
}

# name: (what it does, the outcome it must get)
MISBEHAVIOURS = {
    "crashes": ("os.kill(os.getpid(), signal.SIGSEGV)", "scanner_failed"),
    "is_killed": ("os.kill(os.getpid(), signal.SIGKILL)", "scanner_failed"),
    "hangs": ("time.sleep(1000)", "timed_out"),
    "prints_garbage": ("print('Traceback: something')", "scanner_failed"),
    "prints_half": ("sys.stdout.write('[{\"RuleID\": \"x\", \"Fi')", "scanner_failed"),
    "prints_anothers": ("print(json.dumps({'type': 'summary', 'data': {}}))", "scanner_failed"),
    "prints_nothing": ("sys.exit(0)", "scanner_failed"),
    "exits_with_an_error": ("sys.exit(2)", "scanner_failed"),
    "did_not_look": ("print('[]')", "scanner_failed"),
    "prints_too_much": ("""
chunk = b'[' + b'{},' * 100000
for _ in range(400):
    os.write(1, chunk)
""", "scanner_failed"),
    "nests_too_deep": ("os.write(1, b'[' * 1000000)", "scanner_failed"),
}

# A docker that obeys its documented command line for what the runtime trace asks of it, and writes down each call. MODE is
# what its image does: "traced", "no_strace", "server" (does not end by itself), "no_build", "no_daemon".
DOCKER = """
mode = MODE
with open(os.path.join(os.environ["HOME"], "docker.calls"), "a") as calls:
    calls.write(json.dumps(args) + "\\n")
TRACE = 'execve("/bin/app", ["/bin/app"], 0x1 /* 1 var */) = 0\\nopenat(AT_FDCWD</>, "/etc/passwd", O_WRONLY|O_APPEND) = 3</etc/passwd>\\n'
command = args[1] if args[0] == "image" else args[0]
if mode == "no_daemon":
    sys.exit("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.")
if command == "build" and mode == "no_build":
    sys.exit("pull access denied for base")
if command == "inspect":
    print(json.dumps({"Entrypoint": ["/bin/app"], "Cmd": None}))
if command == "run" and mode == "no_strace":
    sys.stderr.write('exec: "strace": executable file not found in $PATH')
    sys.exit(127)
if command == "run" and mode == "server":
    time.sleep(1000)
if command in ("run", "logs"):
    sys.stderr.write(TRACE + ("+++ exited with 0 +++\\n" if mode == "traced" else ""))
"""
