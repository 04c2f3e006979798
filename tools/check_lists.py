#!/usr/bin/python3
"""Holds the lists in the documents to the code: what is named in one must stand in the other.

  usage: check_lists.py [ROOT] [--write [--attack PROGRAM]]

  README.md          a row for each guarantee, with its promise
  docs/jails.md      a row for each guarantee in each table of runs
  docs/cli.md        a row for each verb, with its summary
  docs/adr/README.md a row for each decision record

--write puts missing rows there: of a guarantee with "–" for every jail, which claims nothing, of a record with its title. The tables of
docs/jails.md come from runs (tools/jail_matrix.py), so there a row is only missed. --attack also writes the table of docs/attacks.md, of
what `sallyport-attack --list` says.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

GUARANTEE = re.compile(r'GuaranteeInfo\{Guarantee::k\w+, "([a-z_.]+)",\s*"([^"]+)"[^}]*\}')
VERB = re.compile(r'const Verb (k\w+Verb)\{\s*\.name = "([a-z-]+)",\s*\.summary = "([^"]+)"')
VERB_ROW = re.compile(r"&(k\w+Verb)")
MATRIX_BEGIN, MATRIX_END = "<!-- tools/jail_matrix.py writes from here -->", "<!-- to here -->"
JAIL_COLUMN_CLAIMS_NOTHING = "–"


class Page:
    """A document as lines, with its tables found by how their first line begins."""

    def __init__(self, path):
        self.path = path
        self.lines = path.read_text(encoding="utf-8").split("\n")

    def tables(self, opening):
        """(first, end) of the rows of each such table, heading and rule left out."""
        found = []
        for number, line in enumerate(self.lines):
            if line.startswith(opening):
                end = number
                while end < len(self.lines) and self.lines[end].startswith("|"):
                    end += 1
                found.append((number + 2, end))
        return found

    def save(self):
        self.path.write_text("\n".join(self.lines), encoding="utf-8")


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def guarantees(root):
    return GUARANTEE.findall((root / "include/sallyport/guarantee.h").read_text(encoding="utf-8"))


def verbs(root):
    """(name, summary) in the order of the overview."""
    known = {}
    for path in sorted((root / "src/cli").rglob("*.cc")):
        known |= {constant: (name, summary) for constant, name, summary in VERB.findall(path.read_text(encoding="utf-8"))}
    listed = VERB_ROW.findall((root / "src/cli/verbs.cc").read_text(encoding="utf-8"))
    return [known[constant] for constant in listed if constant in known]


def records(root):
    """(row's beginning, title) of each decision record."""
    for path in sorted((root / "docs/adr").glob("[0-9]*.md")):
        title = path.read_text(encoding="utf-8").split("\n", 1)[0].lstrip("# ").removeprefix(path.name[:4]).lstrip(". ")
        yield f"[{path.name[:4]}]({path.name})", title


def check_rows(page, table, wanted, write):
    """`wanted` holds rows, each a list of cells of which the first names it. Cells that it leaves out are the document's own."""
    first, end = table
    rows = {cells(line)[0]: cells(line) for line in page.lines[first:end]}
    problems = [f"{page.path.name}: no row for {row[0]}" for row in wanted if row[0] not in rows]
    problems += [f"{page.path.name}: the row of {row[0]} does not say: {' | '.join(row[1:])}" for row in wanted
                 if row[0] in rows and rows[row[0]][1:len(row)] != row[1:]]
    problems += [f"{page.path.name}: a row for {name}, which the code does not have" for name in rows
                 if name not in [row[0] for row in wanted]]
    if write and problems:
        width = len(cells(page.lines[first - 2]))
        fresh = []
        for row in wanted:
            own = rows.get(row[0], [JAIL_COLUMN_CLAIMS_NOTHING] * width)[len(row):]
            fresh.append("| " + " | ".join(row + own) + " |")
        page.lines[first:end] = fresh
        page.save()
        return []
    return problems


def only_table(page, opening):
    tables = page.tables(opening)
    if len(tables) != 1:
        sys.exit(f"check_lists: error: {page.path} has {len(tables)} tables that begin with '{opening}'")
    return tables[0]


def check_index(root, write):
    page = Page(root / "docs/adr/README.md")
    first, end = only_table(page, "| No. |")
    listed = {cells(line)[0] for line in page.lines[first:end]}
    missing = [(link, title) for link, title in records(root) if link not in listed]
    if not write:
        return [f"docs/adr/README.md: no row for {link}" for link, _ in missing]
    if missing:
        rows = page.lines[first:end] + [f"| {link} | {title} |" for link, title in missing]
        page.lines[first:end] = sorted(rows)
        page.save()
    return []


def check_jails(root):
    page = Page(root / "docs/jails.md")
    if MATRIX_BEGIN not in page.lines or MATRIX_END not in page.lines:
        return ["jails.md: no place of tools/jail_matrix.py"]
    begin, end = page.lines.index(MATRIX_BEGIN), page.lines.index(MATRIX_END)
    tables = [table for table in page.tables("| Guarantee |") if begin < table[0] < end]
    if not tables:
        return ["jails.md: no table of guarantees"]
    names = [f"`{name}`" for name, _ in guarantees(root)]
    problems = []
    for first, end in tables:
        listed = [cells(line)[0] for line in page.lines[first:end]]
        problems += [f"jails.md:{first - 1}: no row for {name}; tools/jail_matrix.py writes it" for name in names if name not in listed]
        problems += [f"jails.md:{first - 1}: a row for {name}, which the code does not have" for name in listed if name not in names]
    return problems


def write_attacks(root, program):
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.rstrip("\n").split("\n")
    page = Page(root / "docs/attacks.md")
    first, end = only_table(page, listed[0])
    page.lines[first - 2:end] = listed
    page.save()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, nargs="?", default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--attack", type=Path)
    options = parser.parse_args()
    root, write = options.root, options.write
    if not guarantees(root) or not verbs(root):
        print(f"check_lists: error: no guarantees or no verbs under {root}", file=sys.stderr)
        return 2
    if write and options.attack:
        write_attacks(root, options.attack.resolve())
    readme, cli = Page(root / "README.md"), Page(root / "docs/cli.md")
    problems = check_rows(readme, only_table(readme, "| Guarantee | Promise |"),
                          [[f"`{name}`", promise] for name, promise in guarantees(root)], write)
    problems += check_jails(root)
    problems += check_rows(cli, only_table(cli, "| verb |"), [[f"`{name}`", summary] for name, summary in verbs(root)], write)
    problems += check_index(root, write)
    print("\n".join(problems) if problems else "the lists in the documents are the code's")
    if problems and not write:
        print("hint: tools/write_docs.sh puts there what the code knows")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
