#!/usr/bin/env python3
"""probe and lint against the same scanners alone: ratios in one run, in turns, medians with their quartiles.

  usage: tools/bench_jobs.py [--rounds N] [--files N] [--only probe|gate|lint] [--cli SALLYPORT]       (make bench-jobs)

The scanners are the real rg and ast-grep; semgrep, syft, grype and gitleaks are stand-ins that compute for a while, so that
`-j 2` has something to run at once.
"""
import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLI = ROOT / "build/bench/bin/sallyport"
NPM = ROOT / "build/npm/node_modules"
sys.path.insert(0, str(ROOT / "tests/jobs"))
import standins  # noqa: E402

WORK = "\ndeadline = time.process_time() + 1.0\nwhile time.process_time() < deadline:\n    sum(range(1000))\n"


def make_repo(repo, files):
    for number in range(files):
        directory = repo / f"d{number % 100}"
        directory.mkdir(exist_ok=True)
        name, text = [(f"f{number}.py", f"def f{number}(a):\n    return a + {number}\n" * 10),
                      (f"f{number}.js", f"function f{number}(a) {{ return a + {number}; }}\n" * 10),
                      (f"f{number}.c", f"int f{number}(int a) {{ return a + {number}; }}\n" * 10)][number % 3]
        (directory / name).write_text(text)


def write_rules(directory):
    """As lint makes them: one set of rules for each language of a family."""
    directory.mkdir()
    families = {"c": ["C", "Cpp"], "go": ["Go"], "javascript": ["JavaScript", "TypeScript", "Tsx"], "python": ["Python"], "rust": ["Rust"]}
    for family, languages in families.items():
        text = (ROOT / f"src/jobs/report/rules/{family}.yml").read_text()
        for language in languages:
            own = text.replace("LANGUAGE", language).replace("\nid: ", f"\nid: {language}-")
            (directory / f"{language}.yml").write_text(own.replace("id: ", f"id: {language}-", 1))


def timed(argv, cwd, env, accepted=(0, 1)):
    start = time.monotonic()
    done = subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode not in accepted:
        sys.exit(f"bench_jobs: {argv[:4]} exited with {done.returncode}: {done.stdout[-500:]} {done.stderr[-500:]}")
    return time.monotonic() - start


def compare(title, ways, rounds):
    """ways: name -> argv, cwd, env. The first is what the others are divided by, round by round."""
    times = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            times[name].append(timed(*way))
    print(f"\n{title}")
    first = next(iter(times.values()))
    for name, values in times.items():
        ratios = sorted(one / other for one, other in zip(values, first))
        low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
        more = (statistics.median(values) - statistics.median(first)) * 1000
        print(f"  {name:<28} {statistics.median(values) * 1000:9.1f} ms   {statistics.median(ratios):5.2f} [{low:.2f}-{high:.2f}]   {more:+.1f} ms")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--files", type=int, default=20000)
    parser.add_argument("--only", choices=("probe", "gate", "lint"))
    parser.add_argument("--cli", default=str(CLI))
    options = parser.parse_args()
    cli = str(Path(options.cli).resolve())
    wanted = lambda part: options.only in (None, part)
    with tempfile.TemporaryDirectory(prefix="sallyport-bench-") as place:
        place = Path(place)
        place.chmod(0o755)
        repo, tools, home, small = (place / name for name in ("repo", "tools", "home", "small"))
        for directory in (repo, tools, home, small):
            directory.mkdir()
        make_repo(repo, options.files)
        make_repo(small, 300)
        for name, body in standins.HONEST.items():
            (tools / name).write_text(standins.HEAD + WORK + body)
            (tools / name).chmod(0o755)
        ast_grep = NPM / "@ast-grep/cli-linux-x64-gnu"
        env = {"PATH": f"{tools}:{ast_grep}:/usr/bin:/bin", "HOME": str(home), "XDG_STATE_HOME": str(home), "LANG": "C.UTF-8"}
        probe = [cli, "probe", "all", str(small), "--without", "scip_typescript", "--json"]
        if wanted("probe"):
            compare("probe all, four scanners of one second each and the real ones: -j 2 against -j 1",
                    {"-j 2": ([*probe, "-j", "2"], small, env), "-j 1": ([*probe, "-j", "1"], small, env)}, options.rounds)
        search = ["rg", "--json", "--hidden", "--no-ignore", "--text", "-e", "curl [^|]*[|] *sh", "."]
        if wanted("gate"):
            compare(f"rg over {options.files} files: alone, through the gate",
                    {"rg alone": (search, repo, env), "sallyport run -- rg": ([cli, "run", "--repo", str(repo), "--", *search], repo, env)},
                    options.rounds)
        config = place / "sgconfig.yml"
        write_rules(place / "rules")
        config.write_text("ruleDirs: [rules]\n")
        scan = ["ast-grep", "scan", "--config", str(config), "--json=stream", "--no-ignore", "hidden", "--no-ignore", "vcs", "."]
        if wanted("lint"):
            compare(f"lint over {options.files} files against ast-grep with the same rules",
                    {"ast-grep alone": (scan, repo, env), "sallyport lint": ([cli, "lint", str(repo)], repo, env)}, options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
