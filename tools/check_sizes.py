#!/usr/bin/python3
"""Fails when a file, or a function in it, has grown too long to be read in one go.

  usage: check_sizes.py [ROOT]

Every source below include/, src/, tests/, bench/, fuzz/, tools/, cmake/, policies/ and .ci/, and every file of the build, has at most
350 lines; every function of C++ or Python has at most 60, its first line and its last counted. What needs more is about two things:
split it by subject. A fuzzer's corpus is not for readers.
"""

import sys
from pathlib import Path

from function_sizes import functions_of

LONGEST = 350
LONGEST_FUNCTION = 60
FOLDERS = ("include", "src", "tests", "bench", "fuzz", "tools", "cmake", "policies", ".ci")
SUFFIXES = (".cc", ".h", ".c", ".S", ".py", ".sh", ".js", ".cmake", ".in", ".yml", ".yaml", ".toml")
NAMES = ("CMakeLists.txt", "Makefile", "CMakePresets.json")


def sources(root):
    yield from (root / name for name in NAMES if (root / name).is_file())
    for folder in FOLDERS:
        yield from (file for file in sorted((root / folder).rglob("*"))
                    if (file.suffix in SUFFIXES or file.name in NAMES) and file.is_file() and "corpus" not in file.parts)


def main(argv):
    root = Path(argv[1]) if len(argv) > 1 else Path(__file__).parent.parent
    sizes = {file.relative_to(root): len(file.read_text(encoding="utf-8").splitlines()) for file in sources(root)}
    if not sizes:
        print(f"check_sizes: error: no source below {root}", file=sys.stderr)
        return 2
    functions = [(file, function) for file in sizes for function in functions_of(root / file)]
    found = [f"{file}: {lines} lines, and {LONGEST} are the most" for file, lines in sizes.items() if lines > LONGEST]
    found += [f"{file}:{function.line}: {function.lines} lines in {function.name}, and {LONGEST_FUNCTION} are the most"
              for file, function in functions if function.lines > LONGEST_FUNCTION]
    longest = max((function.lines for _, function in functions), default=0)
    print("\n".join(found) if found else f"{len(sizes)} sources, the longest with {max(sizes.values())} lines; "
                                         f"{len(functions)} functions, the longest with {longest}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
