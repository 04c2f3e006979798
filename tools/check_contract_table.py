#!/usr/bin/python3
"""Fails when docs/contract.md forgets a rule or names a test that does not exist.

  usage: check_contract_table.py [ROOT]

A row is `| C7 | the rule | tests |`, also for a range of letters or words after the number. Each `name` in backticks of
the last cell is a file of the project, a GoogleTest `Suite.Name`, or a test added by name in a CMakeLists.txt. A rule
that is not built yet says "planned" there, and then names no test.
"""

import re
import sys
from pathlib import Path

RULES = range(1, 42)
ROW = re.compile(r"^\|\s*(?:\*\*)?\[?C(\d+)\b.*\|\s*$")
TEST = re.compile(r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)"
                  r"\(\s*(\w+)\s*,\s*(\w+)")
NAMED = re.compile(r"\b(?:add_test\(\s*NAME|sallyport_check\(|sallyport_test\(|sallyport_fuzz\()\s*([\w.-]+)")


def known_tests(root):
    tests = set()
    for top in ("src", "tests", "tools", "fuzz", "bench"):
        for path in (root / top).rglob("*"):
            if path.suffix in (".cc", ".h"):
                tests |= {f"{suite}.{name}" for suite, name in TEST.findall(path.read_text(encoding="utf-8"))}
            elif path.name == "CMakeLists.txt":
                tests |= set(NAMED.findall(path.read_text(encoding="utf-8")))
    return tests


def exists(name, tests, root):
    if name in tests:
        return True
    if "*" in name:
        pattern = re.compile(re.escape(name).replace(r"\*", r"\w*") + "$")
        return any(pattern.match(test) for test in tests)
    return ("/" in name or "." in name) and not Path(name).is_absolute() and (root / name).is_file()


def check(root):
    table = root / "docs" / "contract.md"
    tests = known_tests(root)
    seen = set()
    for number, line in enumerate(table.read_text(encoding="utf-8").splitlines(), 1):
        row = ROW.match(line)
        if not row:
            continue
        rule = int(row[1])
        seen.add(rule)
        cell = re.split(r"(?<!\\)\|", line.strip().strip("|"))[-1]
        names = re.findall(r"`([^`]+)`", cell)
        if not names and "planned" not in cell:
            yield f"docs/contract.md:{number}: C{rule} names no test and is not marked planned"
        for name in names:
            if not exists(name, tests, root):
                yield f"docs/contract.md:{number}: C{rule} names {name}, which is no test and no file"
    for rule in RULES:
        if rule not in seen:
            yield f"docs/contract.md:0: C{rule} is missing"


def main(argv):
    root = Path(argv[1] if len(argv) > 1 else Path(__file__).parent.parent).resolve()
    try:
        findings = list(check(root))
    except OSError as error:
        print(f"check_contract_table: error: cannot read {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
