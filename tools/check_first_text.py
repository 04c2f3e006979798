#!/usr/bin/python3
"""Fails when much of what src/cli/first_text.ld names is no longer in the program.

  usage: check_first_text.py FIRST_TEXT_LD PROGRAM

A function that was renamed has lost its place beside the others without anybody noticing; that costs speed only, so a few
may be missing, and another compiler makes other parts of functions. PROGRAM is a release build.
"""

import re
import sys
from pathlib import Path

from objects import ObjectError, symbols

FUNCTION = re.compile(r"^\s*\*\(\.text\.(?:(?:startup|unlikely|hot)\.)?(\S+)\)$", re.MULTILINE)
MOST_MISSING = 0.1


def main(argv):
    if len(argv) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        named = FUNCTION.findall(Path(argv[1]).read_text(encoding="utf-8"))
        present = symbols(argv[2], undefined=False)
    except (OSError, ObjectError) as error:
        print(f"check_first_text: error: {error}", file=sys.stderr)
        return 2
    missing = [name for name in named if name not in present]
    print(f"{len(named) - len(missing)} of {len(named)} functions named in {argv[1]} are in the program")
    if named and len(missing) <= MOST_MISSING * len(named):
        return 0
    print("\n".join(f"  missing: {name}" for name in missing[:20]))
    print("write it anew: make order-text")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
