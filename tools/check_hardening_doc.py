#!/usr/bin/python3
"""Holds docs/hardening.md to the code: its tables are what `sallyport allowlist show TOOL --json` says.

  usage: check_hardening_doc.py --sallyport FILE --document FILE --policy FILE [--write]

Each table stands between `<!-- facts NAME -->` and `<!-- end -->`: of each tool that may be run, and of each hardening that no
tool of the built-in set has, but a policy's may (npx, jailed). --policy is docs/policy.md, whose list of hardenings is the
code's. With --write all of it is put there, a table that is missing at the end of the others; else a difference is an error. A
table of nothing is an error in any case.
"""

import argparse
import difflib
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PLACE = re.compile(r"<!-- facts (\S+) -->\n(.*?)<!-- end -->\n", re.S)
LIST = re.compile(r"(\| `hardening` \| `\"none\"` \| one of `)([^`]*)(`)")
KINDS = ("forced", "refused", "neutralised")


def ask(sallyport, *words):
    asked = subprocess.run([sallyport, "allowlist", *words, "--json"], capture_output=True, text=True, check=True)
    return json.loads(asked.stdout)["tools"]


def policy_with(hardening, folder):
    """A policy of one tool called `tool` that has this hardening."""
    path = Path(folder) / "policy.toml"
    path.write_text('schema = "sallyport.policy/1"\n[[tool]]\nname = "tool"\ndecision_record = "none"\nreason = "to ask"\n'
                    f'hardening = "{hardening}"\n', encoding="utf-8")
    return str(path)


def hardenings(sallyport, folder):
    """Every name, as the program itself lists them when a policy names an unknown one."""
    asked = subprocess.run([sallyport, "allowlist", "check", "--policy", policy_with("?", folder), "--json"], capture_output=True,
                           text=True, check=False)
    hint = json.loads(asked.stdout)["error"]["hint"]
    if not hint.startswith("one of "):
        sys.exit(f"check_hardening_doc: error: '{hint}' does not list the hardenings")
    return hint.removeprefix("one of ").split(", ")


def facts_by_name(sallyport):
    """(what each table is called: its tool or hardening, with the facts; every hardening's name)"""
    found, used = {}, {"none"}
    for tool in ask(sallyport, "list"):
        if tool["role"] == "tool":
            found[tool["name"]] = ask(sallyport, "show", tool["name"])[0]
            used.add(tool["hardening"])
    with tempfile.TemporaryDirectory(prefix="sallyport-hardenings-") as folder:
        names = hardenings(sallyport, folder)
        for name in names:
            if name not in used:
                found[name] = ask(sallyport, "show", "tool", "--policy", policy_with(name, folder))[0]
    return found, names


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def table(tool):
    """The Markdown of one tool, by kind and then in the code's order."""
    lines = ["| | what | why |", "|---|---|---|"]
    facts = sorted(tool["facts"], key=lambda fact: KINDS.index(fact["kind"]))
    lines += [f"| {fact['kind']} | {cell(fact['what'])} | {cell(fact['why'])} |" for fact in facts]
    return "\n".join(lines) + "\n"


def with_tables(text, tables, write):
    """(the page with these tables, what is wrong with which it has)"""
    shown = [found.group(1) for found in PLACE.finditer(text)]
    missing = [name for name in tables if name not in shown]
    problems = [f"a table of '{name}', which the code does not have" for name in shown if name not in tables]
    if not write:
        problems += [f"no table of '{name}'" for name in missing]
    elif missing:
        end = [found.end() for found in PLACE.finditer(text)]
        at = end[-1] if end else len(text)
        text = text[:at] + "".join(f"\n### {name}\n\n<!-- facts {name} -->\n<!-- end -->\n" for name in missing) + text[at:]
    return PLACE.sub(lambda found: f"<!-- facts {found.group(1)} -->\n{tables.get(found.group(1), '')}<!-- end -->\n", text), problems


def settle(path, old, new, write):
    """Writes the page, or says how it differs."""
    if write:
        path.write_text(new, encoding="utf-8")
        return []
    return list(difflib.unified_diff(old.splitlines(), new.splitlines(), str(path), "the code", lineterm=""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sallyport", type=Path, required=True)
    parser.add_argument("--document", type=Path, required=True)
    parser.add_argument("--policy", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    facts, names = facts_by_name(str(options.sallyport.resolve()))
    old = options.document.read_text(encoding="utf-8")
    new, problems = with_tables(old, {name: table(tool) for name, tool in facts.items()}, options.write)
    policy = options.policy.read_text(encoding="utf-8")
    if not LIST.search(policy):
        problems.append(f"{options.policy} has no list of hardenings")
    listed = LIST.sub(lambda found: found.group(1) + " ".join(names) + found.group(3), policy)
    if problems:
        print(*problems, sep="\n")
        return 1
    difference = settle(options.document, old, new, options.write) + settle(options.policy, policy, listed, options.write)
    if difference:
        print(*difference, sep="\n")
        print("hint: tools/write_docs.sh puts there what the code says")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
