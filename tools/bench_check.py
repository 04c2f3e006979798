#!/usr/bin/env python3
"""Fails when a ratio got worse than the recorded one. `make bench-check`; `make bench-record` writes the record.

Only ratios are compared, each of two contestants in the same interleaved rounds: a slower machine or a busy one
changes both. What counts as a loss comes from the spread of the ratio when it was recorded. A loss must show again in a second
measurement before it is called one.

  usage: tools/bench_check.py [--record] [--times FILE…]     (FILE: measured before, in place of measuring)
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import stats

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "bench/recorded.json"
PROGRAMS = ROOT / "build/bench/bench"
REPEATS = 3
# Smaller than `make bench` has them, to be done in minutes.
QUICK = {
    "start": ["--rounds", "60"],
    "inside": ["--rounds", "6", "--files", "20000"],
    "drain": ["--rounds", "5", "--gib", "1"],
}
LEAST_TOLERANCE = 0.08  # less than this is within what an unchanged program shows from one day to the next
MOST_TOLERANCE = 0.30  # more than this and the check could not fail any more

# Name in the record, benchmark, contestant, what it is compared with.
RATIOS = (
    ("start.library", "true, jailed (ratio to bwrap)", "library, native jail", "bwrap"),
    ("start.library_to_floor", "true, jailed (ratio to bwrap)", "library, native jail", "floor"),
    ("start.warm", "true, jailed (ratio to bwrap)", "library, warm native jail", "posix_spawn + pipes + waitpid"),
    ("start.cli", "true, jailed (ratio to bwrap)", "CLI, native jail", "bwrap"),
    ("start.cli_no_record", "true, jailed (ratio to bwrap)", "CLI, native jail, no record", "bwrap"),
    ("start.no_jail", "git --version, no jail", "library, no jail", "posix_spawn + pipes + waitpid"),
    # Not to bare: what the kernel charges for any filter is not ours to lose.
    ("inside.rg", "rg over 20000 files", "native jail", "floor"),
    ("inside.git", "git status in 20000 files", "native jail", "floor"),
    ("drain", "1024 MiB to stdout (rate = 1 / ratio)", "gate, 64 MiB cap", "bare read loop"),
)


def measure():
    """Every quick benchmark once; the ratios of one repeat."""
    with tempfile.TemporaryDirectory(prefix="sallyport-bench-check-") as place:
        times = Path(place) / "times.jsonl"
        for name, arguments in QUICK.items():
            subprocess.run([PROGRAMS / f"sallyport_bench_{name}", *arguments], check=True,
                           stdout=subprocess.DEVNULL, env=os.environ | {"SALLYPORT_BENCH_TIMES": str(times)})
        return ratios_of(times.read_text())


def ratios_of(text):
    """From lines of JSON (bench/measure.cc) to {name: ratio of medians}; what was not measured is left out."""
    medians = {}
    for line in text.splitlines():
        entry = json.loads(line)
        medians[entry["bench"], entry["contestant"]] = stats.median(entry["times"])
    return {name: medians[bench, one] / medians[bench, other] for name, bench, one, other in RATIOS
            if (bench, one) in medians and (bench, other) in medians}


def summary(repeats):
    """{name: (median of the repeats, half of their range as a share of it)}."""
    names = [name for name, *_ in RATIOS if all(name in repeat for repeat in repeats)]
    result = {}
    for name in names:
        values = [repeat[name] for repeat in repeats]
        middle = stats.median(values)
        result[name] = (middle, (max(values) - min(values)) / 2 / middle)
    return result


def record_of(found):
    """What is recorded: the ratio, and twice the spread between repeats as the tolerance, within reason."""
    return {name: {"ratio": round(ratio, 4),
                   "tolerance": round(min(max(2 * spread, LEAST_TOLERANCE), MOST_TOLERANCE), 3)}
            for name, (ratio, spread) in found.items()}


def losses(record, found):
    """The names that are worse than recorded by more than their tolerance, or are not measured any more."""
    return [name for name, entry in record.items()
            if name not in found or found[name][0] > entry["ratio"] * (1 + entry["tolerance"])]


def print_table(record, found):
    print(f"{'ratio':<26} {'recorded':>9} {'tolerance':>10} {'measured':>9} {'change':>8}")
    for name in dict.fromkeys([*record, *found]):
        entry, value = record.get(name), found.get(name, (None, None))[0]
        recorded = f"{entry['ratio']:.3f}" if entry else "new"
        tolerance = f"± {entry['tolerance']:.0%}" if entry else ""
        measured = f"{value:.3f}" if value is not None else "missing"
        change = f"{value / entry['ratio'] - 1:+.1%}" if entry and value is not None else ""
        print(f"{name:<26} {recorded:>9} {tolerance:>10} {measured:>9} {change:>8}")


def check(record, measurements):
    """Takes one summary after the other until one shows no loss; two with the same loss fail. 0 or 1."""
    suspected = None
    for found in measurements:
        print_table(record, found)
        lost = losses(record, found)
        if suspected is not None:
            lost = [name for name in lost if name in suspected]
            for name in lost:
                print(f"bench-check: error: {name} is worse than recorded, twice in a row", file=sys.stderr)
            return 1 if lost else 0
        if not lost:
            return 0
        print(f"bench-check: {', '.join(lost)} may have got worse: measuring again", file=sys.stderr)
        suspected = lost
    print("bench-check: error: a suspected loss was not measured again", file=sys.stderr)
    return 1


def measured_now():
    while True:
        yield summary([measure() for _ in range(REPEATS)])


def main():
    parser = argparse.ArgumentParser(description="compares ratios with bench/recorded.json")
    parser.add_argument("--record", action="store_true", help="write the record instead")
    parser.add_argument("--record-file", type=Path, default=RECORD)
    parser.add_argument("--times", type=Path, nargs="+",
                        help="files of times, one for each measurement, instead of measuring")
    arguments = parser.parse_args()
    measurements = measured_now()
    if arguments.times:
        measurements = (summary([ratios_of(path.read_text())]) for path in arguments.times)
    if arguments.record:
        found = next(iter(measurements))
        arguments.record_file.write_text(json.dumps(record_of(found), indent=2) + "\n")
        print_table(record_of(found), found)
        return 0
    if not arguments.record_file.exists():
        print(f"bench-check: error: no {arguments.record_file.name}: run make bench-record", file=sys.stderr)
        return 1
    return check(json.loads(arguments.record_file.read_text()), measurements)


if __name__ == "__main__":
    sys.exit(main())
