#!/usr/bin/python3
"""C1: fails when anything but src/spawn can start a process.

  usage: check_chokepoint.py [--source ROOT] [--during-build] BUILD_DIR

Reads the undefined symbols of every built object, so a macro, an inline function or a template cannot hide a call.
Then reads the text of src/ for what leaves no such symbol: assembly, syscall(), the helper's own system calls, and a
shell given a string to parse (C5).
src/attack/program, tests/, bench/ and fuzz/ are programs of their own and may start processes; nothing of theirs is installed.
"""

import argparse
import re
import sys
from pathlib import Path

from objects import ObjectError, built_objects, symbols

# dlopen and dlsym are here because through them any other name can be reached without being referred to.
CREATES_PROCESS = re.compile(
    r"^(__|__libc_|_IO_)?(fork|vfork|_Fork|clone|clone2|clone3|fexecve|popen|system|forkpty|daemon|wordexp"
    r"|execl|execle|execlp|execv|execve|execveat|execvp|execvpe|posix_spawnp?|pidfd_spawnp?|dlopen|dlsym|dlvsym)$")
# By text, not by symbol: libstdc++ waits on its atomics and stop tokens through an inline syscall(SYS_futex, …), so an
# object may refer to the symbol although nobody wrote it.
RAW_SYSTEM_CALL = re.compile(r"\bsyscall\b")
# The spawn helper's own way to make one.
HELPER_HEADER = re.compile(r'^\s*#\s*include\s*"spawn/(helper/(?!helper_image\.h)|freestanding/)', re.MULTILINE)

MAY_CREATE = ("src/spawn/", "src/attack/program/", "tests/", "bench/", "fuzz/")

ASSEMBLY = re.compile(r"\b(asm|__asm|__asm__)\b")
SHELL_CALL = re.compile(r"(?<![\w.>])(system|popen|wordexp)\s*\(")
SHELL_LITERAL = re.compile(r"^(/usr)?(/bin/)?(ba|da|a|z|k|c)?sh$|\b(ba|da|a|z|k|c)?sh -l?c\b")
# Named exceptions. npm runs a project's scripts with a shell by design; the pin keeps an .npmrc from choosing another one. A lock
# file whose package calls its program after a shell is a finding.
MAY_NAME_A_SHELL = {("src/core/policy/hardening/npm_keys.cc", "/bin/sh"),
                    *(("src/jobs/validate/lock_findings.cc", shell) for shell in ("sh", "bash", "dash", "zsh"))}
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\((?P<raw>.*?)\)(?P=d)"|"(?P<text>(?:\\.|[^"\\\n])*)"'
                   r"|'(?:\\.|[^'\\\n])+'", re.DOTALL)


def of_a_test(file):
    return any(part.endswith("_test.dir") for part in file.parts)


def check_symbols(objects, during_build):
    for source, files in sorted(objects.items()):
        for file in files:
            if during_build and of_a_test(file):
                continue  # may be half written at this moment; checked when the tests run
            if not file.is_file():
                if not during_build:
                    yield source, f"has not been built: {file.name} is missing"
                continue
            if source.startswith(MAY_CREATE):
                continue
            for name in sorted(symbols(file, undefined=True)):
                if CREATES_PROCESS.match(name):
                    yield source, f"refers to {name}: only src/spawn may start a process (C1)"


def check_text(path, source):
    """Checks code and string literals separately: a comment or a message may well talk about system()."""
    text = path.read_text(encoding="utf-8")
    blank = lambda part: re.sub(r"[^\n]", " ", part)
    code = TOKEN.sub(lambda m: blank(m[0]), text)
    line_of = lambda offset: text.count("\n", 0, offset) + 1
    if not source.startswith(("src/os/", "src/spawn/")):
        for match in ASSEMBLY.finditer(code):
            yield line_of(match.start()), "inline assembly can make any system call; it belongs in src/os"
        for match in RAW_SYSTEM_CALL.finditer(code):
            yield line_of(match.start()), "raw system calls belong in src/os (C1)"
        for match in HELPER_HEADER.finditer(text):
            yield line_of(match.start()), "the helper's system calls are src/spawn's alone (C1)"
    for match in SHELL_CALL.finditer(code):
        yield line_of(match.start()), f"{match[1]}() has a shell parse a string (C5)"
    for match in TOKEN.finditer(text):
        literal = match["text"] if match["text"] is not None else match["raw"]
        if literal is None or path.stem.endswith("_test") or (source, literal) in MAY_NAME_A_SHELL:
            continue
        if SHELL_LITERAL.search(literal):
            yield line_of(match.start()), f'"{literal}" names a shell; argv is passed as values (C5)'


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("--during-build", action="store_true", help="skip what is not built yet, and tests")
    parser.add_argument("build_dir", type=Path)
    options = parser.parse_args(argv[1:])
    root = options.source.resolve()
    try:
        objects = built_objects(options.build_dir.resolve(), root)
        findings = [f"{source}: {reason}" for source, reason in check_symbols(objects, options.during_build)]
    except ObjectError as error:
        print(f"check_chokepoint: error: {error}", file=sys.stderr)
        return 2
    if not any(source.startswith("src/spawn/") for source in objects):
        findings.append("src/spawn: no object of it was found, so this check read the wrong build")
    for path in sorted(p for p in (root / "src").rglob("*") if p.suffix in (".cc", ".h", ".c", ".S")):
        source = str(path.relative_to(root))
        if source.startswith("src/attack/program/"):
            continue
        findings += [f"{source}:{line}: {reason}" for line, reason in check_text(path, source)]
    print("\n".join(findings) if findings else f"{len(objects)} sources: only src/spawn can start a process")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
