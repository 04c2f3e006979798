#!/usr/bin/python3
"""What a start in the jails of OCI runtimes costs, beside the runtime's own command over the same bundle.

  usage: tools/bench_oci.py BUILD_DIR [--rounds N]

Prints the median of each and the ratio, of rounds that take turns. The runtime's own command gets the bundle that `explain` shows, with
`true` as its process and a network namespace of its own; it makes a cgroup, which the jail does not.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/nonexistent"}
POLICY = 'schema = "sallyport.policy/1"\n[[tool]]\nname = "true"\ndecision_record = "bench"\nreason = "the smallest program"\n'


def run(command):
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"bench_oci: error: {' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def bundle_of(call, place):
    """The jail's own bundle, with its mount points made."""
    lines = run([*call[:1], "explain", "--verbose", *call[2:]]).splitlines()
    texts = [line.strip() for line in lines]
    config = json.loads("\n".join(texts[texts.index("{"):len(texts) - texts[::-1].index("}")]))
    config["process"]["args"] = ["/usr/bin/true"]
    config["linux"]["namespaces"].append({"type": "network"})
    root = place / "rootfs"
    root.mkdir(parents=True)
    for name in ("bin", "lib", "lib64"):
        if os.path.islink(f"/{name}"):
            (root / name).symlink_to(f"usr/{name}")
    (place / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return place


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", type=Path)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args(argv[1:])
    with tempfile.TemporaryDirectory(prefix="bench-oci-") as directory:
        place = Path(directory)
        repo = place / "repo"
        repo.mkdir()
        policy = place / "policy.toml"
        policy.write_text(POLICY, encoding="utf-8")
        program = str(options.build_dir.resolve() / "bin" / "sallyport")

        def call(jail):
            return [program, "run", "--jail", jail, "--repo", str(repo), "--cwd", str(repo), "--policy", str(policy), "--", "true"]

        bundle = bundle_of(call("oci"), place / "bundle")
        contestants = {"runc run, the same bundle": ["runc", "--root", str(place / "state"), "run", "--bundle", str(bundle), "bench-{n}"],
                       "sallyport run --jail oci": call("oci"), "sallyport run --jail native": call("native")}
        if shutil.which("runsc"):
            contestants["sallyport run --jail gvisor"] = call("gvisor")
        times = {name: [] for name in contestants}
        for number in range(options.rounds + 1):
            for name, words in contestants.items():
                start = time.perf_counter()
                run([word.replace("{n}", str(number)) for word in words])
                if number > 0:  # the first warms caches up
                    times[name].append(time.perf_counter() - start)
    peer = statistics.median(times["runc run, the same bundle"])
    for name, taken in times.items():
        median = statistics.median(taken)
        print(f"{name:<32} {median * 1000:8.1f} ms  {median / peer:5.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
