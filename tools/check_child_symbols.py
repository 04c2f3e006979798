#!/usr/bin/python3
"""Fails when code that runs in a half-made process refers to anything outside its approved list.

  usage: check_child_symbols.py [--source ROOT] [--unit GLOB]... [--approved FILE] BUILD_DIR

That is the code between clone and exec, where an allocation, a lock or an exception is a deadlock or worse. The list
(one symbol per line, # comments) is the complete set of what it may refer to; its own files may call each other.
"""

import argparse
import fnmatch
import sys
from pathlib import Path

from objects import ObjectError, built_objects, symbols


def read_approved(file):
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ObjectError(f"cannot read {file}: {error.strerror}") from error
    return {name for line in lines if (name := line.split("#")[0].strip())}


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("--unit", action="append", help="the unit's sources, below --source")
    parser.add_argument("--approved", type=Path, default=Path("src/spawn/helper/approved_symbols.txt"))
    parser.add_argument("build_dir", type=Path)
    options = parser.parse_args(argv[1:])
    globs = options.unit or ["src/spawn/*child*.cc"]
    root = options.source.resolve()
    try:
        approved = read_approved(root / options.approved)
        built = built_objects(options.build_dir.resolve(), root)
        unit = {source: files for source, files in built.items()
                if any(fnmatch.fnmatch(source, glob) for glob in globs) and not source.endswith("_test.cc")}
        for glob in globs:
            if not fnmatch.filter(unit, glob):
                raise ObjectError(f"no built object matches {glob}")
        defined = set().union(*(symbols(file, undefined=False) for files in unit.values() for file in files))
        used = {source: set().union(*(symbols(file, undefined=True) for file in files))
                for source, files in unit.items()}
    except ObjectError as error:
        print(f"check_child_symbols: error: {error}", file=sys.stderr)
        return 2
    findings = [f"{source}: refers to {name}, which is not in {options.approved}"
                for source, names in sorted(used.items()) for name in sorted(names - approved - defined)]
    print("\n".join(findings) if findings else f"{len(unit)} sources refer to approved symbols only")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
