#!/usr/bin/env python3
"""A message of the library names no option of our CLI: its readers are programs too (ADR 0072).

usage: check_hints.py [ROOT]
"""

import pathlib
import re
import sys

LAYERS = ("core", "os", "spawn", "egress", "locate", "audit", "workspace", "jails", "gate")
# Prose: an option of ours behind a word. A table of another tool's options has each alone in its quotes.
LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')


def options_of(root: pathlib.Path) -> list[str]:
    text = (root / "src/cli/call_options.cc").read_text()
    return re.findall(r'\{\{"(--[a-z-]+)"', text)


def main() -> int:
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    options = options_of(root)
    if len(options) < 10:
        print("check_hints: found no table of options in src/cli/call_options.cc", file=sys.stderr)
        return 2
    prose = re.compile(r"[A-Za-z:,(] (" + "|".join(sorted(options, key=len, reverse=True)) + r")(?![a-z=-])")
    found = 0
    for layer in LAYERS:
        for path in sorted((root / "src" / layer).rglob("*.cc")):
            if path.name.endswith("_test.cc"):
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if line.lstrip().startswith("//"):
                    continue
                for literal in LITERAL.findall(line):
                    match = prose.search(literal)
                    if match:
                        print(f"{path.relative_to(root)}:{number}: names the option {match.group(1)}: "
                              "name the API in backticks (docs/adr/0072)")
                        found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
