#!/usr/bin/python3
"""Fails when a file has grown too long to be read in one go.

  usage: check_sizes.py [ROOT]

Every source below include/, src/, tests/, bench/, fuzz/ and tools/ has at most 350 lines. One that needs more is about two
things: split it by subject.
"""

import sys
from pathlib import Path

LONGEST = 350
FOLDERS = ("include", "src", "tests", "bench", "fuzz", "tools")
SUFFIXES = (".cc", ".h", ".S", ".py", ".sh", ".cmake")


def main(argv):
    root = Path(argv[1]) if len(argv) > 1 else Path(__file__).parent.parent
    sizes = {file.relative_to(root): len(file.read_text(encoding="utf-8").splitlines())
             for folder in FOLDERS for file in sorted((root / folder).rglob("*"))
             if file.suffix in SUFFIXES and file.is_file()}
    if not sizes:
        print(f"check_sizes: error: no source below {root}", file=sys.stderr)
        return 2
    found = [f"{file}: {lines} lines, and {LONGEST} are the most" for file, lines in sizes.items() if lines > LONGEST]
    print("\n".join(found) if found else f"{len(sizes)} sources, the longest with {max(sizes.values())} lines")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
