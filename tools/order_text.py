#!/usr/bin/env python3
"""Writes src/cli/first_text.ld: which functions a run of the CLI executes, for the linker to put side by side.

A short run touches a tenth of the program's code. Scattered over all of it, that is a page fault for each 64 KiB, and all that
was mapped is to be unmapped at the end. The file decides about speed only: what it names and the program no longer has is
skipped, what it does not name is linked as ever. Run it (`make order-text`) when the way of a run has changed much.

  usage: tools/order_text.py
"""

import bisect
import ctypes
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
RESULT = ROOT / "src/cli/first_text.ld"
HEAD = "/* What a run of the CLI executes, side by side. Written by tools/order_text.py; it decides about speed only. */\n"

# From <sys/ptrace.h>, <sys/personality.h> and <sys/user.h>.
TRACE_ME, PEEK_USER, SINGLE_BLOCK, NO_RANDOM_ADDRESSES, RIP = 0, 3, 33, 0x0040000, 128

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 4
libc.ptrace.restype = ctypes.c_long


def link_with_map(place):
    """The release's own link, once more, into `place`."""
    commands = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", "bin/sallyport"], check=True, capture_output=True,
                              text=True).stdout.splitlines()
    words = shlex.split(commands[-1].removeprefix(": && ").removesuffix(" && :"))
    words = [word for word in words if not word.endswith(RESULT.name)]
    words[words.index("-o") + 1] = str(place / "sallyport")
    subprocess.run([*words, f"-Wl,-Map={place / 'map'}"], cwd=BUILD, check=True, capture_output=True)
    return place / "sallyport", (place / "map").read_text()


def text_sections(link_map):
    """(address, size, name, object) of each input section of .text, by address."""
    body = re.search(r"^\.text\s.*?(?=^\.\w)", link_map, re.S | re.M).group(0)
    found = re.findall(r"^ (\.text\S*)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+(\S.*)$", body, re.M)
    return sorted((int(at, 16), int(size, 16), name, of) for name, at, size, of in found if int(size, 16) > 0)


def executed(program, arguments, cwd):
    """Where in the program each executed stretch of code begins. Stops at every jump, or, in most virtual machines, at every
    instruction: minutes."""
    child = os.fork()
    if child == 0:
        os.chdir(cwd)
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        libc.personality(NO_RANDOM_ADDRESSES)
        libc.ptrace(TRACE_ME, 0, 0, 0)
        os.execv(program, [str(program), *arguments])
    os.waitpid(child, 0)
    maps = Path(f"/proc/{child}/maps").read_text().splitlines()
    base = min(int(line.split("-")[0], 16) for line in maps if line.endswith(str(program)))
    places = set()
    while True:
        places.add(libc.ptrace(PEEK_USER, child, RIP, 0) - base)
        libc.ptrace(SINGLE_BLOCK, child, 0, 0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSTOPPED(status):
            break
    if status != 0:
        sys.exit(f"order_text: error: the traced run ended with wait status {status}")
    return places


def pattern(name, of):
    """What of that object file: functions have sections of their own, but for the C library's."""
    if name != ".text" and not re.search(r"/lib(c|crypto)\.a\(", of):
        return f"*({name})"
    archived = re.fullmatch(r".*?([^/]+\.a)\((.+)\)", of)
    return f"*{archived[1]}:{archived[2]}({name})" if archived else f"*{Path(of).name}({name})"


def main():
    subprocess.run(["make", "-C", ROOT, "build"], check=True)
    repo = ROOT / "build/example/order-repo"
    subprocess.run([ROOT / "tools/make_example_repo.sh", repo.relative_to(ROOT)], cwd=ROOT, check=True)
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        policy = place / "policy.toml"
        policy.write_text('schema = "sallyport.policy/1"\n[[tool]]\nname = "true"\ndecision_record = "none"\n'
                          'reason = "to see what a run executes"\n')
        program, link_map = link_with_map(place)
        sections = text_sections(link_map)
        begins = [section[0] for section in sections]
        places = set()
        for arguments in (["run", "--", "git", "rev-parse", "HEAD"], ["run", "--policy", str(policy), "--", "true"]):
            places |= executed(program, arguments, repo)
    used = sorted({bisect.bisect(begins, at) - 1 for at in places if at >= begins[0]})
    used = [sections[index] for index in used]
    patterns = list(dict.fromkeys(pattern(name, of) for _, _, name, of in used))
    RESULT.write_text(HEAD + "SECTIONS\n{\n  .text.first :\n  {\n" + "".join(f"    {line}\n" for line in patterns) +
                      "  }\n}\nINSERT BEFORE .text;\n")
    print(f"order_text: {len(patterns)} of {len(sections)} sections, "
          f"{sum(size for _, size, _, _ in used) // 1024} of {sum(size for _, size, _, _ in sections) // 1024} KiB")


if __name__ == "__main__":
    main()
