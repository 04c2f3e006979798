#!/usr/bin/python3
"""What a run in the microVM jail costs, beside the same QEMU command by hand; and what an idle machine holds in memory.

  usage: tools/bench_microvm.py BUILD_DIR [--rounds N] [--jail microvm-tcg|microvm]

By hand is QEMU as our jail starts it (its own command line, kernel and drivers, read from a run of ours that waits), without a jail around it
and with a shell script as its init: it loads the drivers, mounts the share, runs `true` of this host in it, and ends the machine. Prints the
median of each and the ratio, of rounds that take turns. Needs root, qemu-system-x86, a kernel in /boot and busybox.
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

ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/nonexistent"}
POLICY = 'schema = "sallyport.policy/1"\n' + "".join(
    f'[[tool]]\nname = "{name}"\ndecision_record = "bench"\nreason = "a small program"\n' for name in ("true", "sleep"))
BY_HAND = """#!/bin/busybox sh
bb=/bin/busybox
$bb mkdir -p /dev /proc /v
$bb mount -t devtmpfs devtmpfs /dev
$bb mount -t proc proc /proc
i=0
while [ -e /m/$i ]; do $bb insmod /m/$i; i=$((i + 1)); done
$bb mount -t 9p -o ro,trans=virtio,version=9p2000.L,cache=loose,msize=262144 TAG /v
$bb chroot /v /usr/bin/true
$bb reboot -f
"""


def fail(why):
    raise SystemExit(f"bench_microvm: error: {why}")


def qemus_below(pid):
    """Processes of QEMU among the descendants of `pid`."""
    parents = {}
    for entry in Path("/proc").iterdir():
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text(encoding="utf-8").rsplit(") ", 1)[1].split()[1])
        except (ValueError, OSError):
            continue
    def descends(one):
        while one in parents and one != pid:
            one = parents[one]
        return one == pid
    return [one for one in parents if descends(one) and "qemu" in os.readlink(f"/proc/{one}/exe")] if pid in parents else []


def resident(pid):
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.split("VmRSS:")[1].split()[0]) // 1024


def wait_for_machine(owner):
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and owner.poll() is None:
        found = qemus_below(owner.pid)
        if found:
            return found[0]
        time.sleep(0.05)
    fail("no QEMU was started: " + owner.stderr.read().decode())


def words_of(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")[:-1]


def after(words, option):
    return words[words.index(option) + 1]


def by_hand_initramfs(ours, tag, directory):
    """Ours, and behind it an archive whose /init replaces ours: the kernel unpacks one after the other."""
    root = directory / "root"
    (root / "bin").mkdir(parents=True)
    busybox = shutil.which("busybox") or fail("there is no busybox")
    shutil.copy(busybox, root / "bin/busybox")
    for word in subprocess.run(["ldd", busybox], capture_output=True, text=True, check=False).stdout.split():
        if word.startswith("/"):
            (root / word[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(os.path.realpath(word), root / word[1:])
    (root / "init").write_text(BY_HAND.replace("TAG", tag), encoding="utf-8")
    (root / "init").chmod(0o755)
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    packed = subprocess.run(["cpio", "--quiet", "-o", "-H", "newc"], cwd=root, input=names.encode(), capture_output=True, check=True).stdout
    whole = directory / "initramfs"
    whole.write_bytes(ours + b"\0" * (-len(ours) % 512) + packed)
    return whole


def copy_of_machine(pid, directory):
    """QEMU's words as ours has them, with its files at places that anybody can read."""
    words = words_of(pid)
    root = Path(f"/proc/{pid}/root")
    kernel = directory / "kernel"
    shutil.copy(root / after(words, "-kernel")[1:], kernel)
    tag = next(word.split("mount_tag=")[1] for word in words if "mount_tag=" in word)
    initramfs = by_hand_initramfs((root / after(words, "-initrd")[1:]).read_bytes(), tag, directory)
    words[0] = shutil.which("qemu-system-x86_64")
    words[words.index("-kernel") + 1] = str(kernel)
    words[words.index("-initrd") + 1] = str(initramfs)
    # This machine has no other way to be left from inside (QEMU's documentation of microvm).
    words[words.index("-append") + 1] = after(words, "-append").replace(" -- ", " reboot=t -- ")
    console = next(i for i, word in enumerate(words) if word.startswith("file,id=console"))
    words[console] = f"file,id=console,path={directory}/console"
    return words


def timed(words):
    start = time.perf_counter()
    done = subprocess.run(words, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
    if done.returncode != 0:
        fail(f"{' '.join(words[:4])} …: {done.stderr.decode().strip()}")
    return time.perf_counter() - start


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jail", default="microvm-tcg")
    options = parser.parse_args(argv[1:])
    with tempfile.TemporaryDirectory(prefix="bench-microvm-", dir="/var/tmp") as place:
        directory = Path(place)
        (directory / "repo").mkdir()
        (directory / "policy.toml").write_text(POLICY, encoding="utf-8")
        ours = [str(options.build_dir.resolve() / "bin/sallyport"), "run", "--jail", options.jail, "--repo", str(directory / "repo"), "--cwd",
                str(directory / "repo"), "--policy", str(directory / "policy.toml"), "--no-audit", "--timeout", "300s", "--"]
        with subprocess.Popen([*ours, "sleep", "60"], env=ENVIRONMENT, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as waiting:
            machine = wait_for_machine(waiting)
            by_hand = copy_of_machine(machine, directory)
            time.sleep(40)  # it has long booted
            idle = resident(machine)
            waiting.terminate()
        contestants = {"QEMU by hand": by_hand, f"sallyport run --jail {options.jail}": [*ours, "true"]}
        times = {name: [] for name in contestants}
        for _ in range(options.rounds):
            for name, words in contestants.items():
                times[name].append(timed(words))
    peer = statistics.median(times["QEMU by hand"])
    for name, taken in times.items():
        print(f"{name:<36} {statistics.median(taken):8.2f} s  {statistics.median(taken) / peer:5.2f}")
    print(f"{'idle, resident':<36} {idle:8} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
