#!/usr/bin/python3
"""Writes the tables of docs/jails.md: which jails work where, and what each gives there.

  usage: tools/jail_matrix.py BUILD_DIR [--uid NUMBER]      (as root; it changes nothing on the host)

It runs `sallyport doctor --json` as root and as a plain user: as the machine is, in a container of Podman's with its default filter, inside
another user namespace, and where user namespaces are off. Every answer comes from a run that was really made.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BEGIN, END = "<!-- tools/jail_matrix.py writes from here -->", "<!-- to here -->"


SLOW_JAIL = "microvm-tcg"  # emulates a processor; asked by name only
JAIL_OF_ANOTHER_SYSTEM = "sandbox-exec"


class Podman:
    """Root's, in a directory of its own; crun, its usual runtime, needs a host with cgroup v2 alone."""

    def __init__(self, directory):
        self.words = ["podman", "--root", f"{directory}/root", "--runroot", f"{directory}/run", "--tmpdir", f"{directory}/tmp", "--runtime",
                      "runc", "--cgroup-manager", "cgroupfs", "--events-backend", "file"]

    def import_empty_image(self, directory):
        (directory / "empty").mkdir()
        with subprocess.Popen(["tar", "-C", directory / "empty", "-c", "."], stdout=subprocess.PIPE) as tar:
            subprocess.run([*self.words, "import", "-q", "-", "matrix:here"], stdin=tar.stdout, capture_output=True, check=True)

    def options(self):
        return ["--engine", "podman", "--image", "matrix:here", *(f"--engine-arg={word}" for word in self.words[1:])]

    def start(self, user):
        """A container over this host's own files, with Podman's default filter."""
        return [*self.words, "run", "--rm", "--network", "none", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024",
                *(["--user", f"{user}:{user}"] if user else []), "--rootfs", "/:O"]

    def reset(self):
        subprocess.run([*self.words, "system", "reset", "--force"], capture_output=True, check=False)


def ask(command):
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/nonexistent"}
    answer = subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, check=False)
    try:
        return {entry["jail"]: entry for entry in json.loads(answer.stdout)["jails"]}
    except (ValueError, KeyError) as error:
        raise SystemExit(f"jail_matrix: {' '.join(command)}: {answer.stderr.strip() or error}") from error


def cell(entry):
    if entry is None:
        return "not tried"
    return "works" if entry["usable"] else "– " + entry["error"]["message"].split(": ", 1)[-1].replace("|", "/")


def where_table(found):
    jails = list(next(iter(found.values())))
    lines = ["| Where | " + " | ".join(f"`{jail}`" for jail in jails) + " |", "| --- |" + " --- |" * len(jails)]
    for where, answers in found.items():
        lines.append(f"| {where} | " + " | ".join(cell(answers.get(jail)) for jail in jails) + " |")
    return lines


def guarantee_table(answers):
    working = [entry for entry in answers.values() if entry["usable"]]
    always = [{one["name"]: one["mechanism"] for one in entry["guarantees"]} for entry in working]
    asked = [{one["name"]: f"({one['mechanism']})" for one in entry["when_asked"]} for entry in working]
    names = []
    for one in (*always, *asked):
        names += [name for name in one if name not in names]
    lines = ["| Guarantee | " + " | ".join(f"`{entry['jail']}`" for entry in working) + " |", "| --- |" + " --- |" * len(working)]
    for name in names:
        lines.append(f"| `{name}` | " + " | ".join((wish | plain).get(name, "–") for plain, wish in zip(always, asked)) + " |")
    return lines


def places(programs, user, podman):
    """(where, the words in front of the program)"""
    become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
    yield "", become
    yield ", in a container of Podman's", podman.start(user)
    yield ", user namespaces off", [str(programs["without_userns"]), str(user or 0), str(user or 0)]
    # A plain user's would map no other user: there no file of root's can be trusted, and the gate refuses everything.
    if not user:
        yield ", inside another user namespace", ["unshare", "-Ur"]


def answers_at(prefix, program, podman, where, user):
    doctor = [*prefix, str(program), "doctor", "--json"]
    has_image = not user and not where  # a plain user has no access to root's images, and in a container there are none
    found = ask([*doctor, *(podman.options() if has_image else [])])
    if not has_image:
        found.pop("container", None)
    found.pop(JAIL_OF_ANOTHER_SYSTEM, None)
    found.pop(SLOW_JAIL, None)
    if not where:
        found |= ask([*doctor, "--jail", SLOW_JAIL])
    return found


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", type=Path)
    parser.add_argument("--uid", type=int, default=12321, help="of the plain user; needs no entry in /etc/passwd")
    options = parser.parse_args(argv[1:])
    if os.geteuid() != 0:
        raise SystemExit("jail_matrix: error: run it as root; it becomes a plain user itself")
    page = Path(__file__).resolve().parent.parent / "docs" / "jails.md"
    with tempfile.TemporaryDirectory(prefix="jail-matrix-", dir="/var/tmp") as place:
        os.chmod(place, 0o755)
        programs = {}
        for name, source in {"sallyport": "bin/sallyport", "without_userns": "tests/conformance/without_userns"}.items():
            programs[name] = Path(place) / name
            programs[name].write_bytes((options.build_dir / source).read_bytes())
            programs[name].chmod(0o755)
        podman = Podman(place)
        try:
            podman.import_empty_image(Path(place))
            found = {who + where: answers_at(prefix, programs["sallyport"], podman, where, user)
                     for who, user in (("root", None), ("a plain user", options.uid))
                     for where, prefix in places(programs, user, podman)}
        finally:
            podman.reset()
    text = [BEGIN, "", f"Linux {os.uname().release.split('-')[0]}; each answer is a run that was made.", "", *where_table(found), "",
            "What a harmless run of root's had, and in brackets what one had that asked for it.", "", *guarantee_table(found["root"]), "",
            "The same as a plain user, who can make no cgroup here.", "", *guarantee_table(found["a plain user"]), "", END]
    old = page.read_text(encoding="utf-8")
    new = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: "\n".join(text), old, flags=re.S)
    if BEGIN not in old:
        raise SystemExit(f"jail_matrix: error: {page} has no place for the tables")
    page.write_text(new, encoding="utf-8")
    print("\n".join(text))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
