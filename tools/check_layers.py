#!/usr/bin/python3
"""Fails when an include points to the right: a folder may include only folders to its left (docs/architecture.md).

  usage: check_layers.py [ROOT]

That holds for the layers, for the rooms of a layer, and for what stands outside src (tests/, bench/, fuzz/), which has a list of the
layers it may name. Every folder is in a table below; one that is not is an error.

Also: siblings of one rank never include each other, the gate names jails in one file only, jobs include nothing of ours but the
public headers and jobs/report, which is what they share (ADR 0050), public headers name only each other and the standard library,
`core` names no header of the operating system, and a folder called posix none of Linux (ADR 0090).
"""

import re
import sys
from pathlib import Path

# Left to right. Folders of one tuple are siblings; "jails/*" stands for each folder below jails.
RANKS = (("sallyport",), ("core",), ("os",), ("spawn",), ("audit", "egress", "jails/*", "locate", "workspace"), ("gate",),
         ("jobs/report",), ("jobs/lint", "jobs/probe", "jobs/validate"), ("attack",), ("cli",))

# The folders inside a layer, in the same way; "." is the layer's own folder. A layer that is not named here has no folders. A folder
# below a room belongs to the room.
ROOMS = {
    "core": (("bytes", "text"), (".",), ("egress", "json", "seccomp"), ("audit", "view"), ("persistence", "policy")),
    "os": (("posix",), (".",)),
    "spawn": (("freestanding",), ("wire",), ("helper", "owner", "posix", ".")),
    "jobs/probe": ((".",), ("page", "rules")),
    "jobs/report": ((".",), ("rules",)),
    "attack": ((".",), ("program",)),
    "cli": ((".",), ("verbs",)),
}

# What stands outside src: its folder -> the layers it may name besides the public headers. tests/support helps every test.
OUTSIDE = {
    "bench": ("core", "spawn", "jobs/report"),
    "fuzz": ("core", "spawn", "jobs/lint", "jobs/probe", "jobs/report", "jobs/validate", "cli"),
    "tests/cli": (),
    "tests/conformance": ("os", "spawn", "jails/landlock", "gate", "attack"),
    "tests/egress": (),
    "tests/gate": ("core", "os", "spawn", "jails/sandbox_exec", "gate"),
    "tests/golden": ("core", "jails/bwrap", "jails/container", "jails/landlock", "jails/native", "jails/oci", "jails/sandbox_exec"),
    "tests/headers": (),
    "tests/microvm": ("os", "spawn", "jails/microvm", "jails/native", "gate"),
    "tests/package": (),
    "tests/posix": ("core", "os", "spawn", "jails/sandbox_exec"),
    "tests/support": (),
}
# Sources that `lint` judges. Nothing compiles them.
NEVER_COMPILED = "tests/jobs/examples"

# The composition root of the built-in jails (docs/adr/0030-the-port-below-the-gate.md).
JAILS_COMPOSED_IN = "builtin_jails.h"
# What the jobs share (docs/adr/0050-jobs-share-a-report.md).
SHARED_BY_JOBS = "jobs/report"

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
# A standard C++ header has neither a dot nor a slash: <vector>, <cstdint>.
STANDARD = re.compile(r"^[a-z_]+[0-9]*$")
OPERATING_SYSTEM = re.compile(
    r"^(sys|linux|asm|net|netinet|arpa)/|^(dirent|dlfcn|fcntl|grp|netdb|poll|pthread|pwd|sched|signal|spawn|syscall"
    r"|termios|time|unistd|wait)\.h$|^(fstream|thread)$")
LINUX = re.compile(
    r"^(linux|asm|asm-generic)/|^sys/(auxv|capability|epoll|eventfd|fanotify|fsuid|inotify|personality|pidfd|prctl|sendfile|signalfd"
    r"|statfs|sysinfo|sysmacros|timerfd|vfs)\.h$|^(endian|malloc|mntent|syscall)\.h$")


def layer_of(parts):
    """The layer a path relative to src/ or an include belongs to, or None."""
    if len(parts) < 2:
        return None
    if parts[0] in ("jails", "jobs"):
        layer = f"{parts[0]}/{parts[1]}" if len(parts) > 2 else None
    else:
        layer = parts[0]
    return layer if layer and rank_of(layer) is not None else None


def room_of(parts, layer):
    """The room inside its layer that a path belongs to, or None when the layer has no such room."""
    rest = parts[layer.count("/") + 1:-1]
    room = rest[0] if rest else "."
    return room if room_rank(layer, room) is not None else None


def rank_in(ranks, name, wildcard=None):
    return next((rank for rank, names in enumerate(ranks) if name in names or wildcard in names), None)


def rank_of(layer):
    return rank_in(RANKS, layer, "jails/*" if layer.startswith("jails/") else None)


def room_rank(layer, room):
    return rank_in(ROOMS.get(layer, ((".",),)), room)


def compare(target, target_rank, origin, origin_rank, include):
    if target_rank < origin_rank:
        return None
    if target_rank == origin_rank:
        return f'{origin} and {target} are siblings and may not include each other ("{include}")'
    return f'{origin} may not include {target}, which lies to its right ("{include}")'


class File:
    """One source below src/ or include/, with the layer and the room it belongs to."""

    def __init__(self, path, parts, layer, room):
        self.path, self.parts, self.layer, self.room = path, parts, layer, room
        # Tests and generators that run during the build follow the layers but are not part of the library.
        self.is_part = not (path.stem.endswith("_test") or path.stem == "generate")

    def check_quoted(self, include):
        parts = Path(include).parts
        if not self.is_part and parts[0] == "support":  # tests/support
            return None
        if len(parts) == 1 and include.endswith(".inc"):
            return None  # data generated into the build tree by the layer itself
        target = layer_of(parts)
        if target is None:
            return f'"{include}" names no layer; include a header by its path from include/ or src/'
        if target == self.layer:
            return self.check_room(parts, include)
        if self.layer.startswith("jobs/") and target not in ("sallyport", SHARED_BY_JOBS) and self.is_part:
            return f'a job uses the public headers only ("{include}")'
        return compare(target, rank_of(target), self.layer, rank_of(self.layer), include) or self.check_jails_port(target, include)

    def check_room(self, parts, include):
        room = room_of(parts, self.layer)
        if room is None:
            return f'"{include}" names no room of {self.layer}'
        if room == self.room:
            return None
        return compare(f"{self.layer}/{room}", room_rank(self.layer, room), f"{self.layer}/{self.room}",
                       room_rank(self.layer, self.room), include)

    def check_jails_port(self, target, include):
        if self.layer != "gate" or not self.is_part or self.path.name == JAILS_COMPOSED_IN or not target.startswith("jails/"):
            return None
        return f'the gate knows jails by their port; only {JAILS_COMPOSED_IN} names one ("{include}")'

    def check_angled(self, include):
        if is_ours(include):
            return f"<{include}> is ours; include it with quotes"
        if self.layer == "sallyport" and not STANDARD.match(include):
            return f"a public header may include only the standard library and sallyport/*, not <{include}>"
        if self.layer == "core" and self.is_part and OPERATING_SYSTEM.match(include):
            return f"core is pure and may not include <{include}>"
        if "posix" in self.parts[:-1] and LINUX.match(include):
            return f"what is below posix compiles without Linux and may not include <{include}>"
        return None


class OutsideFile:
    """One source of the tests, the benchmarks or the fuzzers."""

    def __init__(self, folder):
        self.folder, self.own = folder, Path(folder).name

    def check_quoted(self, include):
        parts = Path(include).parts
        if parts[0] in ("sallyport", self.own) or (self.folder.startswith("tests/") and parts[0] == "support"):
            return None
        if len(parts) == 1 and include.endswith(".inc"):
            return None
        target = layer_of(parts)
        if target is None:
            return f'"{include}" names no layer; include a header by its path from include/, src/ or tests/'
        if target not in OUTSIDE[self.folder]:
            return f'{self.folder} may not include {target} ("{include}"); its list is OUTSIDE in tools/check_layers.py'
        return None

    def check_angled(self, include):
        return f"<{include}> is ours; include it with quotes" if is_ours(include) else None


def is_ours(include):
    return "/" in include and layer_of(Path(include).parts) is not None


def check_file(path, file):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quoted, angled = match.groups()
        reason = file.check_quoted(quoted) if quoted else file.check_angled(angled)
        if reason:
            yield path, f"{number}: {reason}"


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in (".h", ".cc", ".c", ".S"))


def check_folders(src):
    """A folder without sources has its place too: the next source in it finds the rules waiting."""
    for folder in sorted(p for p in src.rglob("*") if p.is_dir() and p.name != "__pycache__"):
        parts = folder.relative_to(src).parts + ("any.h",)
        if parts[0] in ("jails", "jobs") and len(parts) == 2:
            continue
        layer = layer_of(parts)
        if layer is None or layer == "sallyport":
            yield folder, "0: is no layer of tools/check_layers.py"
        elif room_of(parts, layer) is None:
            yield folder, f"0: is no room of {layer} in tools/check_layers.py"


def check_inside(root):
    for path in sources(root / "include" / "sallyport"):
        yield from check_file(path, File(path, ("sallyport", path.name), "sallyport", "."))
    yield from check_folders(root / "src")
    for path in sources(root / "src"):
        parts = path.relative_to(root / "src").parts
        layer = layer_of(parts)
        if layer is None or layer == "sallyport":
            yield path, "0: lies in no layer"
        elif room_of(parts, layer) is not None:  # else its folder was found already
            yield from check_file(path, File(path, parts, layer, room_of(parts, layer)))


def check_outside(root):
    for top in ("bench", "fuzz", "tests"):
        for path in sources(root / top):
            parts = path.relative_to(root).parts
            folder = "/".join(parts[:2]) if top == "tests" else top
            if folder in OUTSIDE:
                yield from check_file(path, OutsideFile(folder))
            elif path.parent != root / NEVER_COMPILED:
                yield path, "0: lies in no folder of OUTSIDE in tools/check_layers.py"


def main(argv):
    root = Path(argv[1] if len(argv) > 1 else Path(__file__).parent.parent).resolve()
    if not sources(root / "src"):
        print(f"check_layers: error: no sources under {root / 'src'}", file=sys.stderr)
        return 2
    findings = [*check_inside(root), *check_outside(root)]
    for path, reason in findings:
        print(f"{path.relative_to(root)}:{reason}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
