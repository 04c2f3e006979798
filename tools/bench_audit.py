#!/usr/bin/python3
"""What the audit log costs, as ratios in one run: calls with and without it in turns, and verify beside sha256sum.

  usage: tools/bench_audit.py [SALLYPORT] [ROUNDS]      (default: the program of the bench preset)
"""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/audit"))
import many  # noqa: E402  (the log of the tests)

SALLYPORT = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/bench/bin/sallyport")
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 200
RECORDS = 200_000


def timed(argv: list[str], env: dict, at_once: int = 1) -> float:
    """Milliseconds until the last of `at_once` calls ended."""
    begin = time.perf_counter()
    running = [subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) for _ in range(at_once)]
    for process in running:
        if process.wait() != 0:
            raise SystemExit(f"{argv} failed")
    return 1000 * (time.perf_counter() - begin)


def bare_sync(file: int) -> float:
    """Milliseconds to append a record's bytes to a file and wait for the disk: what no durable log can be cheaper than."""
    begin = time.perf_counter()
    os.write(file, b"x" * 2300)
    os.fdatasync(file)
    return 1000 * (time.perf_counter() - begin)


def calls(place: pathlib.Path) -> None:
    repo = place / "repo"
    repo.mkdir()
    env = {"PATH": "/usr/bin:/bin", "HOME": str(place), "XDG_STATE_HOME": str(place)}
    base = [SALLYPORT, "run", "--repo", str(repo), "--cwd", str(repo)]
    modes = {"none at all": ["--no-audit"], "none": ["--audit-sync", "none"], "group": ["--audit-sync", "group"],
             "always": ["--audit-sync", "always"]}
    bare = os.open(place / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for at_once in (1, 2):
        taken: dict[str, list[float]] = {name: [] for name in modes}
        synced: list[float] = []
        for _ in range(ROUNDS // at_once):
            for name, options in modes.items():  # in turns: what the machine does meanwhile hits all alike
                taken[name].append(timed([*base, *options, "--", "git", "--version"], env, at_once))
            synced.append(bare_sync(bare))
        without = statistics.median(taken["none at all"])
        for name, times in taken.items():
            median = statistics.median(times)
            print(f"{at_once} at once, audit {name:<12} {median:8.2f} ms   +{median - without:6.2f} ms   x{median / without:.3f}")
        print(f"{at_once} at once, one bare append and fdatasync on that disk: {statistics.median(synced):.2f} ms")


def reading(place: pathlib.Path) -> None:
    log = place / "log"
    many.write(log, RECORDS)
    files = [str(path) for path in sorted(log.glob("*.jsonl"))]
    size = sum(os.path.getsize(path) for path in files)
    env = {"PATH": "/usr/bin:/bin"}
    verify, hashed = [], []
    for _ in range(5):
        hashed.append(timed(["sha256sum", *files], env))
        verify.append(timed([SALLYPORT, "audit", "verify", "--dir", str(log)], env))
    a, b = statistics.median(hashed), statistics.median(verify)
    print(f"{RECORDS} records, {size / 1e6:.0f} MB: sha256sum {a:.0f} ms, audit verify {b:.0f} ms: {a / b:.2f} x its rate")


def main() -> None:
    place = pathlib.Path(tempfile.mkdtemp(prefix="sallyport-bench-audit-"))
    try:
        calls(place)
        reading(place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
