#!/usr/bin/python3
"""Every configuration key of the installed npm is classified, and a project's .npmrc has no effect on a pinned one.

  usage: npm_keys.py SALLYPORT

Exit: 0 held, 1 not, 77 skipped.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

UNKNOWN = "not an option known to be harmless"
# With these npm does not read the project's configuration at all; the museum has their effect.
GLOBAL = {"global", "location"}
HOSTILE = {"true": "false", "false": "true", "none": "all"}


def run(argv, cwd, home):
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    return subprocess.run([str(word) for word in argv], cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120, check=False)


def settings(prefix, cwd, home):
    """What npm says its settings are, all of them."""
    ran = run([*prefix, "npm", "config", "list", "--long", "--json"], cwd, home)
    if ran.returncode != 0:
        raise RuntimeError(f"npm config list: {ran.stderr}")
    return json.loads(ran.stdout)


def pins(sallyport, cwd, home):
    """Key -> value, from the plan of a call."""
    ran = run([sallyport, "explain", "--json", "--jail", "none", "--repo", cwd, "--", "npm", "ci"], cwd, home)
    environment = json.loads(ran.stdout)["plan"]["env"]
    pairs = environment.items() if isinstance(environment, dict) else (
        (var["name"], var["value"]) if isinstance(var, dict) else var.split("=", 1) for var in environment)
    prefix = "npm_config_"
    return {name.removeprefix(prefix).replace("_", "-"): value for name, value in pairs if name.startswith(prefix)}


def is_classified(sallyport, key, cwd, home):
    ran = run([sallyport, "explain", "--json", "--jail", "none", "--repo", cwd, "--", "npm", "ls", f"--{key}=x"], cwd, home)
    return UNKNOWN not in ran.stdout + ran.stderr


def main(sallyport):
    if shutil.which("npm") is None:
        print("skipped: not installed: npm")
        return 77
    failures = []
    with tempfile.TemporaryDirectory(prefix="npm-keys-") as root:
        home, clean, hostile = (Path(root) / name for name in ("home", "clean", "hostile"))
        for place in (home, clean, hostile):
            place.mkdir()
            (place / "package.json").write_text('{"name":"p","version":"1.0.0"}', encoding="utf-8")
        default = settings([], clean, home)
        # A control for the check itself: a key nobody has.
        if is_classified(sallyport, "no-such-key-of-npm", clean, home):
            failures.append("the check takes every key for classified")
        failures += [f"{key}: not classified in core/policy/hardening/npm_keys.cc" for key in default
                     if not key.startswith("_") and not is_classified(sallyport, key, clean, home)]
        pinned = pins(sallyport, clean, home)
        wanted = {key: HOSTILE.get(value, f"{root}/elsewhere/{key}") for key, value in pinned.items() if key not in GLOBAL}
        (hostile / ".npmrc").write_text("".join(f"{key}={value}\n" for key, value in wanted.items()), encoding="utf-8")
        bare = settings([], hostile, home)
        gate = [sallyport, "run", "--jail", "none", "--repo", hostile, "--"]
        gated = settings(gate, hostile, home)
        gated_clean = settings([*gate[:5], clean, "--"], clean, home)
        for key in wanted:
            if key in default and bare.get(key) == gated_clean.get(key):
                failures.append(f"{key}: the control did not fire: the plain npm has the pinned value too")
            if gated.get(key) != gated_clean.get(key):
                failures.append(f"{key}: .npmrc decides it: {gated.get(key)!r}, not {gated_clean.get(key)!r}")
        print(f"{len(default)} keys, {len(pinned)} pinned")
    print(*failures, sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
