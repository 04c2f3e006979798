#!/usr/bin/python3
"""Shows that the museum's runner can fail: each case below must be reported, and for the reason named.

  usage: museum_selftest.py SALLYPORT
"""

import sys
import tempfile
from pathlib import Path

import museum

FAMILY = '''
from museum import Case

def silent(room): room.git("init", "-q")

def script(room):
    silent(room)
    room.write("fire.js", f"require('fs').writeFileSync({str(room.canary)!r}, 'fired')")

def early(room): room.canary.write_text("")

NODE = ["node", "fire.js"]
GATE = ["--allow-unjailed"]  # what lets node run without a jail
CASES = [
    Case("control_is_dead", "nothing hostile in it", silent, ["git", "status"], "silent"),
    Case("made_by_itself", "fires while it is made", early, ["git", "status"], "silent"),
    Case("fires_at_the_gate", "a tool that runs the repo's code", script, NODE, "silent", GATE),
    Case("is_not_refused", "it runs", script, NODE, "refused", GATE),
    Case("fires_in_the_jail", "the directory of the canary is writable inside", script, NODE, "fires", GATE),
    Case("bad_option", "the case is wrong", script, NODE, "silent", ["--no-such-option"]),
    Case("contained", "holds: running code is the purpose", script, NODE, "fires", GATE, contained=True),
    Case("needs_nothing_here", "skips", silent, ["git", "status"], "silent", needs=["no-such-program"]),
    Case("needs_a_later_git", "skips", silent, ["git", "status"], "silent", needs=["git>=99.0"]),
    Case("needs_this_git", "its control is dead, so it fails", silent, ["git", "status"], "silent", needs=["git>=1.0"]),
]
'''

EXPECTED = {
    "control_is_dead": "bare: the control did not fire",
    "made_by_itself": "bare: fired while it was made",
    "fires_at_the_gate": "gate: the canary fired",
    "is_not_refused": "jailed: the canary fired",
    "fires_in_the_jail": "jailed: the canary fired",
    "bad_option": "sallyport did not understand",
    "contained": None,
}


def main(sallyport):
    with tempfile.TemporaryDirectory(prefix="museum-selftest-") as folder:
        (Path(folder) / "fake_cases.py").write_text(FAMILY, encoding="utf-8")
        cases = museum.families(Path(folder))["fake"]
        wrong = 0
        for name, expected in EXPECTED.items():
            failures = museum.run_case(Path(sallyport).resolve(), cases[name])
            good = not failures if expected is None else any(expected in failure for failure in failures)
            print(f"{'ok' if good else 'WRONG'} {name}: {[failure.partition(chr(10))[0] for failure in failures] or 'held'}")
            wrong += not good
        wanted = ["--folder", folder, "--sallyport", sallyport]
        wrong += museum.main([*wanted, "fake.control_is_dead"]) != 1
        wrong += museum.main([*wanted, "fake.needs_nothing_here"]) != museum.SKIPPED
        wrong += museum.main([*wanted, "fake.needs_a_later_git"]) != museum.SKIPPED
        wrong += museum.main([*wanted, "fake.needs_this_git"]) != 1
        wrong += museum.main([*wanted, "fake.contained"]) != 0
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
