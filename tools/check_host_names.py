#!/usr/bin/python3
"""Fails when a test depends on a name that the host may give to something else.

  usage: check_host_names.py [ROOT]

/nonexistent is such a name: Debian's own home of `nobody`, which somebody may have made. A test that needs a place that is not there
names one below its own directory. The expected files of tests/golden are what the program writes, and are not read here.
"""

import re
import sys
from pathlib import Path

NOBODYS_HOME = re.compile(r"(?<![\w.])/nonexistent")
SUFFIXES = (".cc", ".h", ".py", ".sh", ".cmake")


def sources(root):
    yield from (p for p in (root / "tests").rglob("*") if p.suffix in SUFFIXES)
    yield from (p for p in (root / "src").rglob("*") if p.suffix in (".cc", ".h") and (p.stem.endswith("_test") or p.stem.startswith("test_")))


def main(argv):
    root = Path(argv[1] if len(argv) > 1 else Path(__file__).parent.parent).resolve()
    files = sorted(sources(root))
    if not files:
        print(f"check_host_names: error: no tests below {root}", file=sys.stderr)
        return 2
    findings = [f"{file.relative_to(root)}:{number}: /nonexistent may exist; name a place below the test's own directory"
                for file in files
                for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1) if NOBODYS_HOME.search(line)]
    print("\n".join(findings) if findings else f"{len(files)} tests, none names /nonexistent")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
