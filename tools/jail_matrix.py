#!/usr/bin/python3
"""Writes the tables of docs/jails.md: which jails work where, and what each gives there.

  usage: tools/jail_matrix.py BUILD_DIR [--uid NUMBER]      (as root; it changes nothing on the host)

It runs `sallyport doctor --json` as root and as a plain user: as the machine is, inside another user namespace, where user namespaces are
off, and behind a filter like that of a container engine. Every answer comes from a run that was really made.
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


def doctor(program, prefix, user):
    command = [*prefix, str(program), "doctor", "--json"]
    if user and not (prefix and prefix[0].endswith("without_userns")):
        command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/nonexistent"}
    answer = subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, check=False)
    try:
        return {entry["jail"]: entry for entry in json.loads(answer.stdout)["jails"]}
    except (ValueError, KeyError) as error:
        raise SystemExit(f"jail_matrix: {' '.join(command)}: {answer.stderr.strip() or error}") from error


def cell(entry):
    return "works" if entry["usable"] else "– " + entry["error"]["message"].split(": ", 1)[-1].replace("|", "/")


def where_table(found):
    jails = list(next(iter(found.values())))
    lines = ["| Where | " + " | ".join(f"`{jail}`" for jail in jails) + " |", "| --- |" + " --- |" * len(jails)]
    for where, answers in found.items():
        lines.append(f"| {where} | " + " | ".join(cell(answers[jail]) for jail in jails) + " |")
    return lines


def guarantee_table(answers):
    working = [entry for entry in answers.values() if entry["usable"]]
    given = [{one["name"]: one["mechanism"] for one in entry["guarantees"]} for entry in working]
    names = []
    for one in given:
        names += [name for name in one if name not in names]
    lines = ["| Guarantee | " + " | ".join(f"`{entry['jail']}`" for entry in working) + " |", "| --- |" + " --- |" * len(working)]
    for name in names:
        lines.append(f"| `{name}` | " + " | ".join(one.get(name, "–") for one in given) + " |")
    return lines


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", type=Path)
    parser.add_argument("--uid", type=int, default=12321, help="of the plain user; needs no entry in /etc/passwd")
    options = parser.parse_args(argv[1:])
    if os.geteuid() != 0:
        raise SystemExit("jail_matrix: error: run it as root; it becomes a plain user itself")
    page = Path(__file__).resolve().parent.parent / "docs" / "jails.md"
    with tempfile.TemporaryDirectory(prefix="jail-matrix-") as place:
        os.chmod(place, 0o755)
        programs = {}
        for name, source in {"sallyport": "bin/sallyport", "filter": "tests/conformance/container_filter",
                             "without_userns": "tests/conformance/without_userns"}.items():
            programs[name] = Path(place) / name
            programs[name].write_bytes((options.build_dir / source).read_bytes())
            programs[name].chmod(0o755)
        found = {}
        for who, user in (("root", None), ("a plain user", options.uid)):
            without = [str(programs["without_userns"]), str(user or 0), str(user or 0)]
            places = {"": [], ", user namespaces off": without, ", behind a container's filter": [str(programs["filter"])]}
            # A plain user's would have nobody else in it: there nothing of root's can be trusted, and everything is refused.
            if not user:
                places[", inside another user namespace"] = ["unshare", "-Ur"]
            for where, prefix in places.items():
                found[who + where] = doctor(programs["sallyport"], prefix, user)
    text = [BEGIN, "", f"Linux {os.uname().release.split('-')[0]}; each answer is a run that was made.", "", *where_table(found), "",
            "What a harmless run as a plain user had; limits are listed by runs that ask for them.", "",
            *guarantee_table(found["a plain user"]), "", END]
    old = page.read_text(encoding="utf-8")
    new = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: "\n".join(text), old, flags=re.S)
    if BEGIN not in old:
        raise SystemExit(f"jail_matrix: error: {page} has no place for the tables")
    page.write_text(new, encoding="utf-8")
    print("\n".join(text))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
