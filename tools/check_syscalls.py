#!/usr/bin/python3
"""Fails when src/spawn makes a system call that not every processor has.

  usage: check_syscalls.py [--calls HEADER] [ROOT]

The code without libc names calls by their number, __NR_name. Newer processors have only those of asm-generic/unistd.h:
dup3 but not dup2, ppoll but not poll. What one processor alone has belongs to src/spawn/freestanding/PROCESSOR.
"""

import argparse
import re
import sys
from pathlib import Path

USED = re.compile(r"\b__NR_([a-z0-9_]+)\b")
# Calls that depend on the width of a word are defined by another name there.
DEFINED = re.compile(r"^#define __NR(?:3264)?_([a-z0-9_]+)\s", re.MULTILINE)



def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=Path, default=Path("/usr/include/asm-generic/unistd.h"))
    parser.add_argument("root", type=Path, nargs="?", default=Path(__file__).parent.parent)
    options = parser.parse_args(argv[1:])
    try:
        everywhere = set(DEFINED.findall(options.calls.read_text(encoding="utf-8")))
    except OSError as error:
        print(f"check_syscalls: error: cannot read {options.calls}: {error.strerror}", file=sys.stderr)
        return 2
    spawn = options.root / "src/spawn"
    found, used = [], 0
    for file in sorted(path for path in spawn.rglob("*") if path.suffix in (".cc", ".h", ".S")):
        inside = file.relative_to(spawn)
        if inside.parts[0] == "freestanding" and len(inside.parts) > 2:
            continue  # of one processor
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            for name in USED.findall(line):
                used += 1
                if name not in everywhere:
                    found.append(f"{file.relative_to(options.root)}:{number}: {name} does not exist on every processor")
    if used == 0:
        found.append("src/spawn: no system call was found, so this check read the wrong place")
    print("\n".join(found) if found else f"{used} system calls, all of which every processor has")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
