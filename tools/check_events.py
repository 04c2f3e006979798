#!/usr/bin/python3
"""The names of events: one table in the code, the same in docs/json.md.

  usage: check_events.py [ROOT]

Fails when a source spells out a name that include/sallyport/event_name.h has or should have, when nothing uses one of its
constants, or when the table "Events" of docs/json.md and the header differ. Tests may spell names out: they are what programs read.
"""

import re
import sys
from pathlib import Path

HEADER = "include/sallyport/event_name.h"
DOCUMENT = "docs/json.md"
CONSTANT = re.compile(r'string_view (k\w+) = "([\w.]+)"')
SPELLED = re.compile(r'"((?:subproc|workspace)(?:\.[a-z_]+)+)"')
CODE = re.compile(r"`([^`]+)`")


def sources(root):
    for top in ("include", "src"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".cc", ".h") and not path.name.endswith("_test.cc") and path != root / HEADER:
                yield path, path.read_text(encoding="utf-8")


def documented(text):
    """The names in the first column of the table below "## Events", without its heading."""
    found = re.search(r"^## Events\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    rows = [line for line in found[1].splitlines() if line.startswith("| `")] if found else []
    return [name for row in rows for name in CODE.findall(row.split("|")[1]) if "." in name]


def problems(root, names):
    used = set()
    for path, text in sources(root):
        used |= set(re.findall(r"event_name::(k\w+)", text))
        for number, line in enumerate(text.splitlines(), 1):
            for name in SPELLED.findall(line.split("//")[0]):
                yield f"{path.relative_to(root)}:{number}: spells out {name}: use its constant in {HEADER}"
    for constant, name in names.items():
        if constant not in used:
            yield f"{HEADER}: nothing emits {constant} ({name})"
    shown = documented((root / DOCUMENT).read_text(encoding="utf-8"))
    for name in sorted(set(names.values()) - set(shown)):
        yield f"{DOCUMENT}: the table of events lacks {name}"
    for name in sorted(set(shown) - set(names.values())):
        yield f"{DOCUMENT}: there is no event {name}"
    for name in sorted({name for name in shown if shown.count(name) > 1}):
        yield f"{DOCUMENT}: {name} is in the table twice"


def main(argv):
    root = Path(argv[1] if len(argv) > 1 else Path(__file__).parent.parent).resolve()
    names = dict(CONSTANT.findall((root / HEADER).read_text(encoding="utf-8"))) if (root / HEADER).is_file() else {}
    if not names or not (root / DOCUMENT).is_file():
        print(f"check_events: error: no names in {HEADER}, or no {DOCUMENT}, under {root}", file=sys.stderr)
        return 2
    findings = list(problems(root, names))
    print("\n".join(findings) if findings else f"{len(names)} events, each in the code and in {DOCUMENT}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
