#!/usr/bin/python3
"""Fails when an include points to the right: a folder may include only folders to its left (docs/architecture.md).

  usage: check_layers.py [ROOT]

Also: siblings of one rank never include each other, the gate names jails in one file only, jobs include nothing of ours but the
public headers and jobs/report, which is what they share (ADR 0050), public headers name only each other and the standard
library,
and `core` names no header of the operating system.
"""

import re
import sys
from pathlib import Path

# Left to right. Folders of one tuple are siblings; "jails/*" stands for each folder below jails.
RANKS = (("sallyport",), ("core",), ("os",), ("spawn",), ("audit", "egress", "jails/*", "locate", "workspace"), ("gate",),
         ("jobs/*",), ("attack", "serve"), ("cli",))

# The composition root of the built-in jails (docs/adr/0030-the-port-below-the-gate.md).
JAILS_COMPOSED_IN = "builtin_jails.h"
# What the jobs share; it lies left of them (docs/adr/0050-jobs-share-a-report.md).
SHARED_BY_JOBS = "jobs/report"

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
# A standard C++ header has neither a dot nor a slash: <vector>, <cstdint>.
STANDARD = re.compile(r"^[a-z_]+[0-9]*$")
OPERATING_SYSTEM = re.compile(
    r"^(sys|linux|asm|net|netinet|arpa)/|^(dirent|dlfcn|fcntl|grp|netdb|poll|pthread|pwd|sched|signal|spawn|syscall"
    r"|termios|time|unistd|wait)\.h$|^(fstream|thread)$")


def layer_of(parts):
    """The layer a path relative to src/ or an include belongs to, or None."""
    if len(parts) < 2:
        return None
    if parts[0] in ("jails", "jobs"):
        return f"{parts[0]}/{parts[1]}" if len(parts) > 2 else None
    return parts[0] if rank_of(parts[0]) is not None else None


def rank_of(layer):
    for rank, layers in enumerate(RANKS):
        if layer in layers or f"{layer.split('/')[0]}/*" in layers:
            return rank
    return None


def shared_by(layer):
    """What the jobs share lies left of them; it includes no job itself."""
    return SHARED_BY_JOBS if layer.startswith("jobs/") and layer != SHARED_BY_JOBS else None


def check_file(path, layer, outside):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quoted, angled = match.groups()
        reason = check_quoted(quoted, layer, outside) if quoted else check_angled(angled, layer, outside)
        if not reason and quoted and layer == "gate" and not outside and path.name != JAILS_COMPOSED_IN:
            reason = check_names_no_jail(quoted)
        if reason:
            yield f"{number}: {reason}"


def check_names_no_jail(include):
    if not include.startswith("jails/"):
        return None
    return f'the gate knows jails by their port; only {JAILS_COMPOSED_IN} names one ("{include}")'


def check_quoted(include, layer, outside):
    parts = Path(include).parts
    if outside and parts[0] == "support":  # tests/support
        return None
    if len(parts) == 1 and include.endswith(".inc"):
        return None  # data generated into the build tree by the layer itself
    target = layer_of(parts)
    if target is None:
        return f'"{include}" names no layer; include a header by its path from include/ or src/'
    if target == layer:
        return None
    if layer.startswith("jobs/") and target not in ("sallyport", shared_by(layer)) and not outside:
        return f'a job uses the public headers only ("{include}")'
    if target == shared_by(layer):
        return None
    if rank_of(target) < rank_of(layer):
        return None
    if rank_of(target) == rank_of(layer):
        return f'{layer} and {target} are siblings and may not include each other ("{include}")'
    return f'{layer} may not include {target}, which lies to its right ("{include}")'


def check_angled(include, layer, outside):
    if rank_of(include.split("/")[0]) is not None and "/" in include:
        return f"<{include}> is ours; include it with quotes"
    if layer == "sallyport" and not STANDARD.match(include):
        return f"a public header may include only the standard library and sallyport/*, not <{include}>"
    if layer == "core" and not outside and OPERATING_SYSTEM.match(include):
        return f"core is pure and may not include <{include}>"
    return None


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in (".h", ".cc", ".c"))


def is_outside(path):
    """Tests and generators that run during the build follow the layers but are not part of the library."""
    return path.stem.endswith("_test") or path.stem == "generate"


def check_tree(root):
    for path in sources(root / "include" / "sallyport"):
        yield from ((path, reason) for reason in check_file(path, "sallyport", False))
    for path in sources(root / "src"):
        layer = layer_of(path.relative_to(root / "src").parts)
        if layer is None or layer == "sallyport":
            yield path, "0: lies in no layer"
            continue
        yield from ((path, reason) for reason in check_file(path, layer, is_outside(path)))


def main(argv):
    root = Path(argv[1] if len(argv) > 1 else Path(__file__).parent.parent).resolve()
    if not sources(root / "src"):
        print(f"check_layers: error: no sources under {root / 'src'}", file=sys.stderr)
        return 2
    findings = list(check_tree(root))
    for path, reason in findings:
        print(f"{path.relative_to(root)}:{reason}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
