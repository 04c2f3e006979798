#!/usr/bin/python3
"""Honest use of npm is unharmed: the same commands, bare and through the gate, leave the same files and say the same.

  usage: npm_honest.py SALLYPORT

Exit: 0 the same, 1 not, 77 skipped.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

COMMANDS = [
    ["npm", "install"],
    ["npm", "ci"],
    ["npm", "ls", "--all"],
    ["npm", "test", "--silent"],
    ["npm", "run", "build", "--silent", "--", "--word", "../x"],
    ["npm", "run", "build", "--silent", "-w", "packages/w"],
    ["npm", "pack", "--silent"],
    ["npm", "install", "./extra-1.0.0.tgz", "--save-dev"],
    ["npm", "ls", "--json"],
    ["npm", "uninstall", "extra"],
    ["npm", "query", ".workspace", "--json"],
    ["npm", "config", "get", "legacy-peer-deps"],
]


def run(argv, cwd, home):
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    return subprocess.run([str(word) for word in argv], cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120, check=False)


def package(place, **fields):
    place.mkdir(parents=True, exist_ok=True)
    (place / "package.json").write_text(json.dumps({"version": "1.0.0"} | fields, indent=2) + "\n", encoding="utf-8")


def tarball(repo, home, name):
    made = repo.parent / "made" / name
    package(made, name=name, bin={f"{name}-program": "x.js"})
    (made / "x.js").write_text("#!/usr/bin/env node\nconsole.log('program', ...process.argv.slice(2))\n", encoding="utf-8")
    ran = run(["npm", "pack", "--silent", f"--pack-destination={repo}"], made, home)
    if ran.returncode != 0:
        raise RuntimeError(ran.stderr)


def make(repo, home):
    """A project with a tarball, a local package and a workspace, and an .npmrc as people write them."""
    package(repo, name="honest", workspaces=["packages/*"], dependencies={"dep": "file:dep-1.0.0.tgz", "local": "file:local"},
            scripts={"test": "node -p 1+1 && dep-program", "build": "dep-program built"})
    package(repo / "local", name="local")
    package(repo / "packages/w", name="w", scripts={"build": "dep-program workspace"})
    (repo / ".npmrc").write_text("legacy-peer-deps=true\nsave-exact=true\n", encoding="utf-8")
    for name in ("dep", "extra"):
        tarball(repo, home, name)


def files(repo):
    """Path -> content, but for npm's own record of when it installed, and archives, whose bytes hold times."""
    found = {}
    for folder, folders, names in os.walk(repo):
        for name in [*folders, *names]:
            path = Path(folder) / name
            where = str(path.relative_to(repo))
            if path.is_symlink():
                found[where] = f"-> {os.readlink(path)}"
            elif path.is_file():
                found[where] = path.read_bytes() if path.suffix != ".tgz" else b""
    return found


def outcome(prefix, root):
    """One line per command and difference of the tree, free of the place's name."""
    home, repo = root / "home", root / "repo"
    home.mkdir()
    repo.mkdir()
    make(repo, home)
    said = []
    for command in COMMANDS:
        ran = run([*prefix(repo), *command], repo, home)
        said.append((" ".join(command), ran.returncode, ran.stdout.replace(str(root), "ROOT")))
        noise = [line for line in ran.stderr.splitlines() if "Unknown" in line and "config" in line]
        said.append((" ".join(command), "noise", noise))
    return said, files(repo)


def main(sallyport):
    if shutil.which("npm") is None:
        print("skipped: not installed: npm")
        return 77
    failed = False
    through = {"bare": lambda repo: []}
    for jail in ("none", "native"):
        # The project's own scripts run without a jail only when asked for by name.
        by_name = ["--allow-unjailed"] if jail == "none" else []
        through[jail] = lambda repo, jail=jail, by_name=by_name: [
            sallyport, "run", "--jail", jail, *by_name, "--writable-repo", "--repo", repo, "--"]
    results = {}
    for name, prefix in through.items():
        with tempfile.TemporaryDirectory(prefix="npm-honest-") as root:
            results[name] = outcome(prefix, Path(root).resolve())
    said, tree = results["bare"]
    # npm repeats no install time here: a control that there was something to compare.
    if not any(path.startswith("node_modules/dep/") for path in tree) or any(code for _, code, _ in said[::2]):
        print(f"the plain npm failed: {said}")
        failed = True
    for jail in ("none", "native"):
        for before, after in zip(said, results[jail][0]):
            # Install says how long it took.
            if before[0].split()[1] in ("install", "ci", "uninstall"):
                before, after = before[:2], after[:2]
            if before != after:
                print(f"{jail}: {before} became {after}")
                failed = True
        for path in sorted(set(tree) | set(results[jail][1])):
            if tree.get(path) != results[jail][1].get(path):
                print(f"{jail}: {path} differs: {tree.get(path)!r:.300} became {results[jail][1].get(path)!r:.300}")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
