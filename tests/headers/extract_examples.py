#!/usr/bin/python3
"""Writes the example of each public header into a file that examples.cc includes.

  usage: extract_examples.py EXAMPLES OUTPUT_FOLDER HEADER...

An example is what is indented by three blanks in the comment that a header begins with. HEADER.h gives HEADER.inc, which is
empty when there is none. An example that EXAMPLES does not include is an error: it would never be compiled.
"""

import sys
from pathlib import Path


def example_of(header):
    comment = header.read_text(encoding="utf-8").partition("#pragma once")[0]
    return [line[len("//   "):] for line in comment.splitlines() if line.startswith("//   ")]


def main():
    examples, folder, headers = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    compiled = examples.read_text(encoding="utf-8")
    for header in map(Path, headers):
        lines = example_of(header)
        name = f"{header.stem}.inc"
        if bool(lines) != (f'#include "{name}"' in compiled):
            sys.exit(f"{header}: {'its example is not compiled by' if lines else 'it has no example for'} {examples}")
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


main()
