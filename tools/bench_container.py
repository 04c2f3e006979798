#!/usr/bin/python3
"""What a start in the container jail costs, beside the engine's own command over the same image.

  usage: tools/bench_container.py BUILD_DIR [--rounds N] [--engine podman|docker]

Prints the median of each and the ratio, of rounds that take turns. The image holds busybox alone. Needs root; podman gets a store of its own
in a directory that is removed, docker must run already (DOCKER_HOST), and keeps the image until the end.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": os.environ.get("HOME", "/"), **{
    name: os.environ[name] for name in ("DOCKER_HOST", "XDG_RUNTIME_DIR") if name in os.environ}}
POLICY = 'schema = "sallyport.policy/1"\n[[tool]]\nname = "true"\ndecision_record = "bench"\nreason = "the smallest program"\n'
IMAGE = "sallyport-bench:busybox"
# crun, podman's usual runtime, needs a pure cgroup v2 host; runc also knows v1.
HARDENED = ("--rm", "--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--read-only", "--pids-limit=4096",
            "--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024")


def run(command, **how):
    done = subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          **({"stdin": subprocess.DEVNULL} | how))
    if done.returncode != 0:
        raise SystemExit(f"bench_container: error: {' '.join(map(str, command))}: {done.stderr.decode().strip()}")


def make_root(root):
    (root / "bin").mkdir(parents=True)
    busybox = shutil.which("busybox")
    shutil.copy(busybox, root / "bin/busybox")
    (root / "bin/true").symlink_to("busybox")
    for word in subprocess.run(["ldd", busybox], capture_output=True, text=True, check=False).stdout.split():
        if word.startswith("/"):
            (root / word[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(os.path.realpath(word), root / word[1:])


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", type=Path)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--engine", default="podman")
    options = parser.parse_args(argv[1:])
    with tempfile.TemporaryDirectory(prefix="bench-container-", dir="/var/tmp") as directory:
        place = Path(directory)
        own = []
        if options.engine == "podman":
            own = ["--root", str(place / "root"), "--runroot", str(place / "run"), "--tmpdir", str(place / "tmp"), "--runtime", "runc",
                   "--cgroup-manager", "cgroupfs", "--events-backend", "file"]
        make_root(place / "image")
        with subprocess.Popen(["tar", "-C", place / "image", "-c", "."], stdout=subprocess.PIPE) as tar:
            run([options.engine, *own, "import", "-", IMAGE], stdin=tar.stdout)
        (place / "repo").mkdir()
        (place / "policy.toml").write_text(POLICY, encoding="utf-8")
        peer = f"{options.engine} run, hardened the same"
        contestants = {peer: [options.engine, *own, "run", *HARDENED, IMAGE, "/bin/true"],
                       "sallyport run --jail container": [
                           str(options.build_dir.resolve() / "bin" / "sallyport"), "run", "--jail", "container", "--engine", options.engine,
                           "--image", IMAGE, *(f"--engine-arg={word}" for word in own), "--repo", str(place / "repo"), "--cwd",
                           str(place / "repo"), "--policy", str(place / "policy.toml"), "--no-audit", "--", "true"]}
        times = {name: [] for name in contestants}
        try:
            for number in range(options.rounds + 1):
                for name, words in contestants.items():
                    start = time.perf_counter()
                    run(words)
                    if number > 0:  # the first warms caches up
                        times[name].append(time.perf_counter() - start)
        finally:
            run([options.engine, *own, *(("system", "reset", "--force") if own else ("rmi", IMAGE))])
    for name, taken in times.items():
        print(f"{name:<32} {statistics.median(taken) * 1000:8.1f} ms  {statistics.median(taken) / statistics.median(times[peer]):5.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
