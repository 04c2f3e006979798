#!/usr/bin/python3
"""Writes the fenced block that a Markdown page labels with a file's name into that file.

  usage: extract_recipe.py PAGE NAME OUTPUT
"""

import sys
from pathlib import Path


def main():
    page, name, output = sys.argv[1:4]
    lines = Path(page).read_text(encoding="utf-8").splitlines()
    opening = f"```cpp {name}"
    if lines.count(opening) != 1:
        sys.exit(f"{page}: there must be one block that opens with '{opening}'")
    first = lines.index(opening) + 1
    last = lines.index("```", first)
    Path(output).write_text("\n".join(lines[first:last]) + "\n", encoding="utf-8")


main()
