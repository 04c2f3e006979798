#!/usr/bin/python3
"""Fails when a constant of src/ lies in memory that stays writable.

  usage: check_constants.py [--source ROOT] BUILD_DIR

What may be run, mounted or set is in tables; they belong where the program itself cannot change them (RELRO). g++ 12 does
not put them there when std::array's size is deduced: `constexpr std::array kTable = {Row{…}}` is writable,
`constexpr auto kTable = std::to_array<Row>({…})` is not.
"""

import argparse
import re
import sys
from pathlib import Path

from objects import ObjectError, built_objects, placed_symbols

CONSTANT = re.compile(r"\d(k[A-Z]\w*?)E?$")


def is_writable(section):
    return section.startswith((".data", ".bss", ".tdata", ".tbss")) and not section.startswith(".data.rel.ro")


def findings(objects):
    for source, files in sorted(objects.items()):
        if not source.startswith("src/") or source.endswith("_test.cc") or any("_test.dir" in str(f) for f in files):
            continue
        placed = {pair for file in files for pair in placed_symbols(file)}
        writable = {name[1] for symbol, section in placed if is_writable(section) and (name := CONSTANT.search(symbol))}
        yield from (f"{source}: {name} is a constant in memory that stays writable" for name in sorted(writable))


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("build_dir", type=Path)
    options = parser.parse_args(argv[1:])
    try:
        objects = built_objects(options.build_dir.resolve(), options.source.resolve())
        found = list(findings(objects))
    except ObjectError as error:
        print(f"check_constants: error: {error}", file=sys.stderr)
        return 2
    if not any(source.startswith("src/core/") for source in objects):
        found.append("src/core: no object of it was found, so this check read the wrong build")
    print("\n".join(found) if found else f"{len(objects)} sources: every constant is read-only")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
