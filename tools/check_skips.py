#!/usr/bin/python3
"""Counts the results of ctest runs and fails when a test failed, or was skipped without being on the allowed list.

  usage: check_skips.py [--allowed FILE] [--as root|user] JUNIT.xml...

A skipped test proves nothing, so each one has to be named in tools/allowed_skips.txt: a pattern (shell wildcards), then
the word `user` when only a plain user may skip it, then the reason after a #. The last line printed is the sum over all
runs: "N passed, N failed, N skipped".
"""

import argparse
import fnmatch
import os
import sys
import xml.etree.ElementTree as xml
from pathlib import Path


def read_allowed(file, who):
    patterns = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        entry, _, reason = line.partition("#")
        words = entry.split()
        if not words:
            continue
        if not reason.strip():
            raise ValueError(f"{file}:{number}: {words[0]} is allowed without a reason")
        if words[1:] not in ([], ["user"]):
            raise ValueError(f"{file}:{number}: '{' '.join(words[1:])}' is no condition; there is only 'user'")
        if who == "user" or not words[1:]:
            patterns.append(words[0])
    return patterns


def outcomes(report):
    """(name, "passed" | "failed" | "skipped") of each test; whatever is neither run nor disabled counts as failed."""
    for case in xml.parse(report).getroot().iter("testcase"):
        status = case.get("status")
        if status == "run" and case.find("failure") is None:
            yield case.get("name"), "passed"
        elif status in ("notrun", "disabled") and is_skip(case):
            yield case.get("name"), "skipped"
        else:
            yield case.get("name"), "failed"


def is_skip(case):
    # ctest also says "notrun" of a test whose program does not exist; that one never got the chance to skip.
    skipped = case.find("skipped")
    message = skipped.get("message", "") if skipped is not None else ""
    return case.get("status") == "disabled" or message.startswith("SKIP_") or message == "Disabled"


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--allowed", type=Path, default=Path(__file__).parent / "allowed_skips.txt")
    parser.add_argument("--as", dest="who", choices=("root", "user"), default="root" if os.geteuid() == 0 else "user")
    parser.add_argument("reports", type=Path, nargs="+")
    options = parser.parse_args(argv[1:])
    count = {"passed": 0, "failed": 0, "skipped": 0}
    complaints = []
    try:
        allowed = read_allowed(options.allowed, options.who)
        for report in options.reports:
            seen = list(outcomes(report))
            if not seen:
                complaints.append(f"{report}: no test was run")
            for name, outcome in seen:
                count[outcome] += 1
                if outcome == "skipped" and not any(fnmatch.fnmatchcase(name, pattern) for pattern in allowed):
                    complaints.append(f"{report}: {name} was skipped and is not in {options.allowed.name}")
                if outcome == "failed":
                    complaints.append(f"{report}: {name} failed")
    except (OSError, ValueError, xml.ParseError) as error:
        complaints.append(f"error: {error}")
    for complaint in complaints:
        print(f"check_skips: {complaint}", file=sys.stderr)
    sys.stderr.flush()
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**count))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
