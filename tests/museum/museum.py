#!/usr/bin/python3
"""The hostile-repo museum: repos that attack a user who runs an honest command in them.

  usage: museum.py --list
         museum.py --sallyport FILE FAMILY.CASE...

A family is a module NAME_cases.py in this folder with a list CASES. Each case is made afresh and run in these modes:

  bare    the plain tool, no sallyport. The canary MUST fire: the positive control.
  gate    `sallyport run --jail none`: what the gate alone promises, see Case.gate.
  jailed  `--jail native`. The canary's directory is writable inside, so that a payload the hardening lets run does fire.
          For `contained` cases, whose purpose is to run the repo's code, the directory is not shown.

When root runs this, gate and jailed are made a second time as a plain user. Exit: 0 held, 1 a case failed, 77 skipped.
"""

import argparse
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from somebody import free_id  # noqa: E402

SKIPPED = 77
REFUSED = 125
PATIENCE = 120
PLAIN_ID = free_id()  # the user of tests/support/plain_user.cc

# A family imports this file by its name, whoever started it.
sys.modules.setdefault("museum", sys.modules[__name__])


@dataclass
class Room:
    """What a case is made in. Everything is below `root`, and only `repo` is the adversary's."""

    root: Path
    repo: Path = field(init=False)
    out: Path = field(init=False)  # outside the repo; the payload can write here, jailed too
    home: Path = field(init=False)  # of the caller
    tools: Path = field(init=False)  # first on PATH, not the adversary's: where a case puts a stand-in for a tool
    canary: Path = field(init=False)
    path: str = field(init=False)  # the caller's PATH
    printed: str = field(init=False, default="")  # by the command, once it ran

    def __post_init__(self):
        self.repo = self.root / "repo"
        self.out = self.root / "out"
        self.home = self.root / "home"
        self.tools = self.root / "tools"
        for place in (self.repo, self.out, self.home, self.tools):
            place.mkdir()
        self.canary = self.out / "canary"
        self.path = os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin")

    @property
    def fire(self):
        """A shell command that fires the canary and then passes its input on, as a filter would."""
        return f"echo fired >>'{self.canary}'; cat"

    def payload(self, path, then="exit 0"):
        """An executable script that fires the canary. A relative path counts from the repo. Returns where it is."""
        path = self.repo / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho fired >>'{self.canary}'\n{then}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def write(self, path, text):
        """A file of the repo, or of any place by its absolute path."""
        path = self.repo / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def environment(self):
        return {"PATH": f"{self.tools}:{self.path}", "HOME": str(self.home), "LANG": "C.UTF-8"}

    def do(self, *argv, cwd=None, stdin=None):
        """Runs a command while the repo is made; its failure is the case's failure."""
        extras = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@museum.test", "GIT_COMMITTER_NAME": "A",
                  "GIT_COMMITTER_EMAIL": "a@museum.test", "GIT_CONFIG_NOSYSTEM": "1"}
        made = subprocess.run([str(word) for word in argv], cwd=cwd or self.repo, env=self.environment() | extras,
                              input=stdin, stdin=subprocess.DEVNULL if stdin is None else None, capture_output=True,
                              text=True, timeout=PATIENCE, check=False)
        if made.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, argv))}: exit {made.returncode}: {made.stderr.strip()}")
        return made.stdout

    def git(self, *argv, cwd=None):
        return self.do("git", "-c", "protocol.file.allow=always", *argv, cwd=cwd)


@dataclass(frozen=True)
class Case:
    name: str
    why: str  # one sentence: what the repo does and how it would run code or write outside
    make: Callable[[Room], None]
    argv: list[str] | Callable[[Room], list[str]]  # the honest-looking command a user would run
    gate: str  # "silent" | "refused" | "fires" (not promised without a jail; docs/threat-model.md says so)
    options: list[str] = field(default_factory=list)  # of sallyport
    needs: list[str] = field(default_factory=list)  # programs of the host, "git>=2.54" at that version
    fires: Callable[[Room], bool] | None = None  # another effect than the canary's existence
    contained: bool = False

    def fired(self, room):
        return self.fires(room) if self.fires else room.canary.exists()

    def command(self, room):
        return [str(word) for word in (self.argv(room) if callable(self.argv) else self.argv)]


@dataclass(frozen=True)
class Mode:
    name: str
    jail: str | None = None  # None: the plain tool
    plain_user: bool = False


def modes():
    yield Mode("bare")
    yield Mode("gate", "none")
    yield Mode("jailed", "native")
    if os.geteuid() == 0:
        yield Mode("gate as a plain user", "none", plain_user=True)
        yield Mode("jailed as a plain user", "native", plain_user=True)


@dataclass(frozen=True)
class Ran:
    code: int
    stdout: str
    stderr: str

    @property
    def record(self):
        """sallyport's own record, or nothing for the plain tool."""
        return json.loads(self.stdout)

    @property
    def refused(self):
        return self.code == REFUSED and self.record["schema"] == "sallyport.error/1"

    @property
    def text(self):
        return f"exit {self.code}\n{self.stdout[-2000:]}\n{self.stderr[-2000:]}"


def through(sallyport, case, mode, room):
    shown = [] if case.contained or mode.jail == "none" else ["--rw", str(room.out)]
    return [str(sallyport), "run", "--json", "--jail", mode.jail, "--repo", str(room.repo), "--cwd", str(room.repo),
            *shown, *case.options, "--", *case.command(room)]


def give_away(place):
    for folder, folders, files in os.walk(place):
        for entry in [folder, *(os.path.join(folder, name) for name in folders + files)]:
            os.lchown(entry, PLAIN_ID, PLAIN_ID)


def run_mode(sallyport, case, mode, room):
    identity = {}
    argv = case.command(room) if mode.jail is None else through(sallyport, case, mode, room)
    if mode.plain_user:
        # The build may lie where only root can go.
        argv[0] = shutil.copy(sallyport, room.root / "sallyport")
        room.root.chmod(0o755)
        give_away(room.root)
        identity = {"user": PLAIN_ID, "group": PLAIN_ID, "extra_groups": []}
    ran = subprocess.run(argv, cwd=room.repo, env=room.environment(), stdin=subprocess.DEVNULL, capture_output=True,
                         timeout=PATIENCE, check=False, **identity)
    result = Ran(ran.returncode, ran.stdout.decode(errors="replace"), ran.stderr.decode(errors="replace"))
    room.printed = result.stdout + result.stderr
    return result


def judge(case, mode, ran, fired):
    """What is wrong, or nothing."""
    if mode.jail is None:
        return None if fired else "the control did not fire: the case proves nothing"
    if ran.record.get("error", {}).get("field", "").startswith("option "):
        return "sallyport did not understand the case's options"
    # In a jail what is contained may run.
    promise = "silent" if mode.jail != "none" and (case.gate == "fires" or case.contained) else case.gate
    if promise == "fires":
        return None if fired else "it did not fire; promise more: gate=\"silent\""
    if fired:
        return "the canary fired"
    if promise == "refused" and not ran.refused:
        return "it was not refused"
    return None


def is_there(need):
    """Whether the host has a program; "git>=2.54" wants a version."""
    program, _, wanted = need.partition(">=")
    if shutil.which(program) is None or not wanted:
        return shutil.which(program) is not None
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    numbers = re.search(r"(\d+)\.(\d+)", said).groups()
    return tuple(map(int, numbers)) >= tuple(map(int, wanted.split(".")))


def missing(case):
    return [need for need in case.needs if not is_there(need)]


def run_case(sallyport, case):
    """The failures of a case, one text per mode."""
    failures = []
    for mode in modes():
        with tempfile.TemporaryDirectory(prefix="museum-") as root:
            room = Room(Path(root))
            case.make(room)
            if case.fired(room):
                failures.append(f"{mode.name}: fired while it was made")
                continue
            ran = run_mode(sallyport, case, mode, room)
            wrong = judge(case, mode, ran, case.fired(room))
            print(f"  {mode.name}: exit {ran.code}{', ' + wrong if wrong else ''}")
            if wrong:
                failures.append(f"{mode.name}: {wrong}\n{ran.text}")
    return failures


def families(folder):
    """name -> cases, of every family in the folder."""
    sys.path.insert(0, str(folder))
    found = {}
    for file in sorted(folder.glob("*_cases.py")):
        cases = importlib.import_module(file.stem).CASES
        names = [case.name for case in cases]
        if len(names) != len(set(names)):
            raise ValueError(f"{file}: two cases have one name")
        wrong = [case.name for case in cases if case.gate not in ("silent", "refused", "fires")]
        if wrong:
            raise ValueError(f"{file}: no such promise of the gate: {', '.join(wrong)}")
        found[file.stem.removesuffix("_cases")] = {case.name: case for case in cases}
    return found


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="the cases, one FAMILY.CASE per line")
    parser.add_argument("--folder", type=Path, default=Path(__file__).resolve().parent, help="where the families are")
    parser.add_argument("--sallyport", type=Path)
    parser.add_argument("cases", nargs="*", metavar="FAMILY.CASE")
    options = parser.parse_args(argv)
    known = families(options.folder)
    if options.list:
        for family, cases in known.items():
            print(*(f"{family}.{name}" for name in cases), sep="\n")
        return 0
    if options.sallyport is None or not options.cases:
        parser.error("--sallyport and at least one case are needed")
    failed, skipped = False, False
    for wanted in options.cases:
        family, _, name = wanted.partition(".")
        case = known[family][name]
        print(f"{wanted}: {case.why}")
        if missing(case):
            print(f"skipped: not installed: {', '.join(missing(case))}")
            skipped = True
            continue
        for failure in run_case(options.sallyport.resolve(), case):
            failed = True
            print(f"FAILED {wanted}: {failure}")
    return 1 if failed else SKIPPED if skipped else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
