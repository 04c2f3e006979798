#!/usr/bin/python3
"""Fails when a public header is less of a manual than the others, or leans on what another header includes.

  usage: check_headers.py [ROOT]

Each header of include/sallyport begins with a comment that links docs/contract.md and says which errors there are, or that
there are none. Those of the port and of the gate together name every error of error.h, since a caller meets each there. Each includes the standard headers of the names it uses itself: which others they bring along changes with the
compiler. A name that stands in no line of NAMES below is an error too, so that the table stays whole.
"""

import re
import sys
from pathlib import Path

NAMES = {
    "algorithm": "max min sort",
    "array": "array to_array",
    "chrono": "chrono",
    "cstddef": "size_t",
    "cstdint": "int32_t int64_t uint8_t uint16_t uint32_t uint64_t",
    "expected": "expected unexpected",
    "filesystem": "filesystem",
    "functional": "function",
    "memory": "shared_ptr unique_ptr",
    "optional": "nullopt optional",
    "span": "span",
    "stop_token": "stop_token",
    "string": "string",
    "string_view": "string_view",
    "utility": "exchange forward move pair",
    "variant": "get_if variant visit",
    "vector": "vector",
}
HEADER_OF = {name: header for header, names in NAMES.items() for name in names.split()}
USED = re.compile(r"\bstd::(\w+)")
INCLUDED = re.compile(r"^#include <(\w+)>$", re.MULTILINE)
ERROR_TYPE = re.compile(r"^struct (\w+) \{$", re.MULTILINE)
ALTERNATIVES = re.compile(r"ErrorDetailVariant =\s*std::variant<([^>]*)>")
# The manuals of those who make a call.
MANUALS_OF_ERRORS = ("jail.h", "gate.h")


def check(text, error_types):
    comment, pragma, code = text.partition("#pragma once")
    if not pragma:
        yield "has no #pragma once"
    if "docs/contract.md" not in comment:
        yield "its first comment does not link docs/contract.md"
    if not re.search(rf"\b({'|'.join(['errors?', 'fails', *error_types])})\b", comment, re.IGNORECASE):
        yield "its first comment names no errors, and does not say that nothing fails"
    code = re.sub(r"//.*", "", code)
    included = set(INCLUDED.findall(code))
    for name in sorted(set(USED.findall(code))):
        if name not in HEADER_OF:
            yield f"std::{name} is not in the table of tools/check_headers.py"
        elif HEADER_OF[name] not in included:
            yield f"uses std::{name} and does not include <{HEADER_OF[name]}>"


def unnamed_errors(headers):
    """An error that error.h knows, and of which no manual of a call says what to do about it."""
    texts = {header.name: header.read_text(encoding="utf-8") for header in headers}
    found = ALTERNATIVES.search(texts.get("error.h", ""))
    manuals = " ".join(texts.get(name, "").partition("#pragma once")[0] for name in MANUALS_OF_ERRORS)
    for name in re.findall(r"\w+", found[1]) if found else ():
        if not re.search(rf"\b{name}\b", manuals):
            yield f"include/sallyport/error.h: {name} is named by the first comment of neither {' nor '.join(MANUALS_OF_ERRORS)}"


def main(argv):
    root = Path(argv[1] if len(argv) > 1 else Path(__file__).parent.parent).resolve()
    headers = sorted((root / "include" / "sallyport").glob("*.h"))
    if not headers:
        print(f"check_headers: error: no public header below {root}", file=sys.stderr)
        return 2
    errors = root / "include" / "sallyport" / "error.h"
    error_types = ERROR_TYPE.findall(errors.read_text(encoding="utf-8")) if errors in headers else []
    findings = [f"{header.relative_to(root)}: {what}"
                for header in headers for what in check(header.read_text(encoding="utf-8"), error_types)]
    findings += unnamed_errors(headers)
    print("\n".join(findings) if findings else f"{len(headers)} public headers")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
