#!/usr/bin/python3
"""Holds docs/hardening.md to the code: its tables are what `sallyport allowlist show TOOL --json` says.

  usage: check_hardening_doc.py --sallyport FILE --document FILE [--write]

Each table stands between `<!-- facts TOOL -->` and `<!-- end -->`. With --write the tables are put there; else a
difference is an error. A tool that may be run and has no table is an error, and so is a table of no tool.
"""

import argparse
import difflib
import json
import re
import subprocess
import sys
from pathlib import Path

PLACE = re.compile(r"<!-- facts (\S+) -->\n(.*?)<!-- end -->\n", re.S)
KINDS = ("forced", "refused", "neutralised")


def ask(sallyport, *words):
    asked = subprocess.run([sallyport, "allowlist", *words, "--json"], capture_output=True, text=True, check=True)
    return json.loads(asked.stdout)["tools"]


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def table(tool):
    """The Markdown of one tool, by kind and then in the code's order."""
    lines = ["| | what | why |", "|---|---|---|"]
    facts = sorted(tool["facts"], key=lambda fact: KINDS.index(fact["kind"]))
    lines += [f"| {fact['kind']} | {cell(fact['what'])} | {cell(fact['why'])} |" for fact in facts]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sallyport", type=Path, required=True)
    parser.add_argument("--document", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    sallyport = str(options.sallyport.resolve())
    names = [tool["name"] for tool in ask(sallyport, "list") if tool["role"] == "tool"]
    text = options.document.read_text(encoding="utf-8")
    shown = [found.group(1) for found in PLACE.finditer(text)]
    if sorted(shown) != sorted(names):
        print(f"{options.document}: tables of {sorted(shown)}, tools {sorted(names)}")
        return 1
    tables = {name: table(ask(sallyport, "show", name)[0]) for name in names}
    fresh = PLACE.sub(lambda found: f"<!-- facts {found.group(1)} -->\n{tables[found.group(1)]}<!-- end -->\n", text)
    if options.write:
        options.document.write_text(fresh, encoding="utf-8")
        return 0
    difference = list(difflib.unified_diff(text.splitlines(), fresh.splitlines(), str(options.document), "the code",
                                           lineterm=""))
    if difference:
        print(*difference, sep="\n")
        print("hint: tools/check_hardening_doc.py --write puts the code's tables there")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
