"""What people run, bare and jailed: the same output and exit code, and how long it takes. Writes docs/workloads.md.

  usage: workloads.py --sallyport FILE [--write PAGE] [--build WORDS] [--rounds N] [--only WORD]

Without --write nothing is written, and the program fails when one of them does not do jailed what it does bare: the long test.
A tool that is not installed is left out, and said so. README's tour is replayed by tests/docs/transcripts_test.py.
"""

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
IDENTITY = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@use.test", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@use.test",
            "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}


@dataclass
class Workload:
    name: str
    argv: tuple
    policies: tuple = ()
    options: tuple = ()
    clean: tuple = ()  # what a run leaves behind, removed before each
    left: tuple = ()   # what it must leave behind
    needs: tuple = field(default=())
    place: str = "repo"
    made: object = None  # of the place: what must be the same besides, where the output holds times


# chromium is a tool of nobody's ready policy. Its own sandbox wants namespaces, which a jail does not give twice.
OWN_POLICY = """schema = "sallyport.policy/1"
[[tool]]
name = "chromium"
decision_record = "tests/deep/workloads.py"
reason = "renders a page of the repo"
"""
CHROMIUM = ("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom")


def counts(name):
    """Of a report of jest's or vitest's: all but its times."""
    def read(place):
        report = json.loads((place / name).read_text(encoding="utf-8"))
        return {key: value for key, value in report.items() if key.startswith("num")}
    return read


def junit(name):
    """Of pytest's report: all but its times."""
    return lambda place: re.findall(r' (?:errors|failures|skipped|tests)="\d+"', (place / name).read_text(encoding="utf-8"))


def content(name):
    return lambda place: (place / name).read_bytes()


WORKLOADS = (
    Workload("git log of 200 commits", ("git", "log", "--oneline", "--stat")),
    Workload("git status of 2,000 files", ("git", "status", "--short")),
    Workload("git diff of a large change", ("git", "diff", "HEAD~1")),
    Workload("git grep", ("git", "grep", "-n", "needle")),
    Workload("git blame", ("git", "blame", "history.txt")),
    Workload("git archive", ("git", "archive", "--format=tar", "HEAD", "src")),
    Workload("git add in a writable repo", ("git", "add", "-A"), options=("--writable-repo",)),
    Workload("rg over 2,000 files", ("rg", "--sort", "path", "-n", "needle")),
    Workload("rg, counted as JSON", ("rg", "--sort", "path", "--count-matches", "e")),
    Workload("jq", ("jq", "-c", ".items[] | {id, name}", "data.json")),
    Workload("node, a script", ("node", "script.js")),
    Workload("node --test", ("node", "--test", "--test-reporter=dot", "test.mjs")),
    Workload("npm run", ("npm", "run", "--silent", "hello"), policies=("node",)),
    Workload("npm ls", ("npm", "ls", "--json")),
    Workload("npm install without dependencies", ("npm", "install", "--silent", "--no-audit", "--no-fund"), policies=("node",),
             options=("--writable-repo",), clean=("package-lock.json",), left=("package-lock.json",)),
    Workload("python, the standard library", ("python3", "-c", "import json, re, sqlite3, asyncio; print(json.dumps([1]))"),
             policies=("python",)),
    Workload("python, 4 processes", ("python3", "-c", "from multiprocessing import Pool\n"
             "if __name__ == '__main__':\n with Pool(4) as p: print(sum(p.map(abs, range(-1000, 0))))"), policies=("python",)),
    Workload("python -m unittest", ("python3", "-m", "unittest", "-q", "test_it"), policies=("python",)),
    Workload("make and gcc", ("make", "-s", "program"), policies=("cpp",), options=("--writable-repo",),
             clean=("program", "program.o"), left=("program",)),
    Workload("cmake, configured", ("cmake", "-S", ".", "-B", "out", "-G", "Ninja", "--log-level=ERROR"), policies=("cpp",),
             options=("--writable-repo",), clean=("out",), left=("out/build.ninja",), needs=("ninja",)),
    Workload("sh and coreutils", ("sh", "-c", "ls src | sort | head -n 5 | wc -l"), policies=("shell",)),
    Workload("git status in a linked worktree", ("git", "status", "--short"), place="worktree"),
    Workload("git log in a linked worktree", ("git", "log", "--oneline", "-n", "20"), place="worktree"),
    Workload("jest, 30 tests", ("npx", "jest", "--ci", "--json", "--outputFile=jest.json", "--silent"), policies=("node",),
             options=("--writable-repo",), clean=("jest.json",), left=("jest.json",), place="web", made=counts("jest.json")),
    Workload("vitest, 30 tests", ("npx", "vitest", "run", "--reporter=json", "--outputFile=vitest.json"), policies=("node",),
             options=("--writable-repo",), clean=("vitest.json",), left=("vitest.json",), place="web", made=counts("vitest.json")),
    Workload("webpack, 60 modules", ("npx", "webpack", "--mode", "production", "--stats", "errors-only"), policies=("node",),
             options=("--writable-repo",), clean=("dist",), left=("dist/main.js",), place="web", made=content("dist/main.js")),
    Workload("javac", ("javac", "-d", "classes", "Hello.java"), policies=("java",), options=("--writable-repo",), clean=("classes",),
             left=("classes/Hello.class",), made=content("classes/Hello.class")),
    Workload("chromium, a page", (*CHROMIUM, "page.html"), policies=("own",), options=("--ro", "/etc/chromium.d")),
    Workload("go build", ("go", "build", "-buildvcs=false", "-o", "hello-go", "."), policies=("go",), options=("--writable-repo",),
             clean=("hello-go",), left=("hello-go",), place="go"),
    Workload("go test", ("go", "test", "-count=1", "-v", "-run", "TestIt"), policies=("go",), place="go", made=lambda place: ""),
    Workload("cargo build", ("cargo", "build", "--offline", "--quiet"), policies=("rust",), options=("--writable-repo",),
             clean=("target", "Cargo.lock"), left=("target/debug/crate",), place="crate"),
    Workload("pytest", ("pytest", "-q", "--junitxml=report.xml", "test_it.py"), policies=("python",), options=("--writable-repo",),
             clean=("report.xml", ".pytest_cache", "__pycache__"), left=("report.xml",), made=junit("report.xml")),
    Workload("java", ("java", "-cp", ".", "Hello.java"), policies=("java",)),
)


def make_repo(repo, home):
    def git(*words):
        subprocess.run(["git", *words], cwd=repo, env={"PATH": "/usr/bin:/bin", "HOME": str(home)} | IDENTITY, check=True,
                       stdout=subprocess.DEVNULL)
    git("init", "-q", "-b", "main")
    for i in range(40):
        (repo / "src" / f"d{i:02}").mkdir(parents=True)
        for k in range(50):
            text = "\n".join(f"line {n} of {i}.{k}" for n in range(40)) + ("\nneedle here\n" if (i + k) % 37 == 0 else "\n")
            (repo / "src" / f"d{i:02}" / f"f{k:02}.txt").write_text(text, encoding="utf-8")
    files = {
        "data.json": '{"items": [' + ",".join(f'{{"id": {i}, "name": "n{i}"}}' for i in range(500)) + "]}",
        "script.js": "let s = 0; for (let i = 0; i < 1e6; i++) s += i; console.log(s);\n",
        "test.mjs": "import test from 'node:test'; import assert from 'node:assert';\nfor (let i = 0; i < 20; i++) "
                    "test('t' + i, () => assert.equal(1, 1));\n",
        "package.json": '{"name": "work", "version": "1.0.0", "private": true, "scripts": {"hello": "node -p 6*7"}}\n',
        "test_it.py": "import unittest\nclass T(unittest.TestCase):\n def test_a(self): self.assertEqual(1, 1)\n",
        "program.c": "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n",
        "Hello.java": "class Hello { public static void main(String[] a) { System.out.println(42); } }\n",
        "page.html": "<!doctype html><title>t</title><p id=p></p><script>p.textContent = 6 * 7</script>\n",
        "Makefile": "program: program.c\n\t$(CC) -O1 -o $@ $<\n",
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(work C)\nadd_executable(program program.c)\n",
    }
    for name, text in files.items():
        (repo / name).write_text(text, encoding="utf-8")
    git("add", "-A")
    git("commit", "-qm", "first")
    for i in range(200):
        (repo / "history.txt").write_text("\n".join(f"{n} {i // (n + 1)}" for n in range(30)) + "\n", encoding="utf-8")
        git("add", "history.txt")
        git("commit", "-qm", f"change {i}", "--allow-empty")
    for i in range(300):
        path = repo / "src" / f"d{i % 40:02}" / f"f{i % 50:02}.txt"
        path.write_text(path.read_text(encoding="utf-8").replace("line 7", "line seven"), encoding="utf-8")
    git("commit", "-qam", "large")
    git("worktree", "add", "-q", str(repo.parent / "worktree"), "-b", "other")


def make_compiled(root):
    """A module of Go's and a crate: both without dependencies, for there is no network."""
    files = {
        "go/go.mod": "module work.test/hello\n\ngo 1.19\n",
        "go/main.go": 'package main\n\nimport "fmt"\n\nfunc six() int { return 6 }\n\nfunc main() { fmt.Println(six() * 7) }\n',
        "go/main_test.go": 'package main\n\nimport "testing"\n\nfunc TestIt(t *testing.T) {\n\tif six() != 6 {\n\t\tt.Fail()\n\t}\n}\n',
        "crate/Cargo.toml": '[package]\nname = "crate"\nversion = "0.1.0"\nedition = "2021"\n',
        "crate/src/main.rs": 'fn main() {\n    println!("{}", 6 * 7);\n}\n',
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def make_web(web, packages):
    """A project with jest, vitest and webpack; their packages are those of build/npm_workloads."""
    (web / "src").mkdir(parents=True)
    shutil.copytree(packages, web / "node_modules", symlinks=True)
    for i in range(60):
        (web / "src" / f"m{i}.js").write_text(f"module.exports = (x) => x + {i};\n", encoding="utf-8")
    (web / "src/index.js").write_text("console.log([" + ",".join(f"require('./m{i}')(1)" for i in range(60)) + "]);\n", encoding="utf-8")
    (web / "package.json").write_text('{"name": "web", "version": "1.0.0", "private": true}\n', encoding="utf-8")
    for i in range(3):
        cases = "".join(f"test('t{n}', () => {{ expect(f({n})).toBe({n + i}); }});\n" for n in range(10))
        (web / f"a{i}.test.js").write_text(f"const f = require('./src/m{i}');\n{cases}", encoding="utf-8")
        (web / f"b{i}.spec.mjs").write_text("import {test, expect} from 'vitest';\nimport f from './src/m%d.js';\n%s" % (i, cases),
                                            encoding="utf-8")
    (web / "jest.config.js").write_text("module.exports = {testMatch: ['**/*.test.js']};\n", encoding="utf-8")
    (web / "vitest.config.mjs").write_text("export default {test: {include: ['*.spec.mjs']}};\n", encoding="utf-8")


def remove(repo, names):
    for name in names:
        path = repo / name
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


class Runner:
    def __init__(self, sallyport, root):
        self.sallyport, self.root = sallyport, root
        self.home = root / "home"
        self.env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8"}
        self.policies = {}

    def policy(self, names):
        if not names:
            return ()
        if names not in self.policies:
            file = self.root / ("-".join(names) + ".toml")
            with open(file, "w", encoding="utf-8") as out:
                if names == ("own",):
                    out.write(OWN_POLICY)
                else:
                    subprocess.run([self.sallyport, "allowlist", "init", *names], stdout=out, check=True, env=self.env)
            self.policies[names] = ("--policy", file)
        return self.policies[names]

    def once(self, work, jailed):
        repo = self.root / work.place
        remove(repo, work.clean)
        words = list(work.argv)
        if jailed:
            words = [self.sallyport, "run", "--repo", repo, *self.policy(work.policies), *work.options, "--", *words]
        began = time.monotonic()
        done = subprocess.run([str(word) for word in words], cwd=repo, env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=600, check=False)
        took = time.monotonic() - began
        missing = [name for name in work.left if not (repo / name).exists()]
        made = work.made(repo) if work.made and not missing else None
        remove(repo, work.clean)
        # An npx that reports into a file says how long it took.
        said = b"" if work.made else done.stdout
        return (done.returncode, said, missing, made), took, done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sallyport", type=Path, required=True)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--build", default="a release build", help="what the page says of the program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="those whose name holds this")
    args = parser.parse_args()
    os.umask(0o022)
    rows, failures, absent = [], [], []
    with tempfile.TemporaryDirectory(prefix="workloads-") as name:
        root = Path(name).resolve()
        root.chmod(0o755)
        for place in ("repo", "home"):
            (root / place).mkdir()
        make_repo(root / "repo", root / "home")
        make_compiled(root)
        packages = PROJECT / "build/npm_workloads/node_modules"
        subprocess.run([PROJECT / "tools/npm_packages.sh", "npm_workloads"], check=True)
        make_web(root / "web", packages)
        runner = Runner(args.sallyport.resolve(), root)
        for work in (work for work in WORKLOADS if args.only in work.name):
            lacking = [tool for tool in (work.argv[0], *work.needs) if shutil.which(tool, path=runner.env["PATH"]) is None]
            if lacking:
                absent.append(f"{work.name} ({lacking[0]})")
                continue
            times = {False: [], True: []}
            first = {}
            for _ in range(args.rounds):
                for jailed in (False, True):
                    seen, took, stderr = runner.once(work, jailed)
                    times[jailed].append(took)
                    first.setdefault(jailed, (seen, stderr))
            (bare, _), (jailed, stderr) = first[False], first[True]
            if bare[0] != 0:
                failures.append(f"{work.name}: does not work bare: {first[False][1].decode(errors='replace')[-400:]}")
            elif bare[2]:
                failures.append(f"{work.name}: leaves no {bare[2]} bare")
            elif bare != jailed:
                failures.append(f"{work.name}: bare {bare[0]}, {len(bare[1])} bytes, lacks {bare[2]}; jailed {jailed[0]}, "
                                f"{len(jailed[1])} bytes, lacks {jailed[2]}: {stderr.decode(errors='replace')[-400:]}")
            options = " ".join(("--policy " + "+".join(work.policies),) * bool(work.policies) + work.options)
            rows.append((work.name, " ".join(work.argv).split("\n")[0][:60], options, statistics.median(times[False]),
                         statistics.median(times[True])))
            print(f"{rows[-1][0]}: {rows[-1][3] * 1000:.0f} ms bare, {rows[-1][4] * 1000:.0f} ms jailed", flush=True)
    for failure in failures:
        print("error:", failure, file=sys.stderr)
    if args.write and not failures:
        write_page(args.write, rows, absent, args.rounds, args.build)
    return 1 if failures or not rows else 0


def write_page(page, rows, absent, rounds, build):
    lines = ["# Workloads", "", "Written by `tests/deep/workloads.py --write docs/workloads.md`, which a long test runs too and fails when one of them prints or",
             "returns something else in the jail than bare. Each ran over one repo of 2,000 files, in the native jail, with the whole CLI around",
             f"it; medians of {rounds}, bare and jailed in turn, on {os.cpu_count()} processors at a load of {os.getloadavg()[1]:.0f}, Linux {platform.release().split('-')[0]}. Ratios",
             f"scatter when the load is above the number of processors. The program was {build}. A jail has no cache of an earlier run:",
             "`go test` compiles the standard library each time. What a start costs is in [benchmarks](benchmarks.md).", "",
             "| what | command | options of `sallyport run` | bare | jailed | ratio |", "| --- | --- | --- | --- | --- | --- |"]
    for name, command, options, bare, jailed in rows:
        command = command.replace("|", "\\|")
        shown = f"`{options}`" if options else ""
        lines.append(f"| {name} | `{command}` | {shown} | {bare * 1000:.0f} ms | {jailed * 1000:.0f} ms | {jailed / bare:.2f} |")
    if absent:
        lines += ["", "Not installed on the machine that wrote this page: " + ", ".join(absent) + "."]
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
