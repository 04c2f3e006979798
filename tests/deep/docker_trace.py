"""The runtime trace through a real docker daemon: an image made here, no network, a /run of its own. As root.

  usage: docker_trace.py SALLYPORT          skipped (77) where there is no dockerd or no root
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SKIPPED = 77


def libraries_of(program):
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [word for word in listed.split() if word.startswith("/")]


def make_root(root):
    """busybox as a shell, strace, and what the two load."""
    for program in (shutil.which("busybox"), shutil.which("strace")):
        for path in [program, *libraries_of(program)]:
            target = root / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    (root / "bin").mkdir(exist_ok=True)
    for name in ("sh", "cat"):
        (root / "bin" / name).symlink_to(shutil.which("busybox"))
    (root / "etc").mkdir(exist_ok=True)


class Daemon:
    """dockerd in this mount namespace, whose /run is private, so that the client's usual socket is this one's."""

    def __init__(self, place):
        self.log = (place / "dockerd.log").open("wb")
        self.process = subprocess.Popen(
            ["dockerd", "--iptables=false", "--ip6tables=false", "--bridge=none", "--storage-driver", "vfs", "--data-root", place / "data",
             "--exec-root", "/run/docker", "--pidfile", "/run/docker.pid"], stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + 60
        while subprocess.run(["docker", "version"], capture_output=True, check=False).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                sys.exit("dockerd did not start: " + (place / "dockerd.log").read_text()[-2000:])
            time.sleep(0.2)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def probe(sallyport, repo, home):
    env = {"PATH": "/usr/bin:/bin:/usr/sbin", "HOME": str(home)}
    done = subprocess.run([sallyport, "probe", "runtime_trace", str(repo), "--json"], env=env, cwd=repo, capture_output=True, text=True,
                          timeout=240, check=False)
    return json.loads(done.stdout)["scanners"][0], done.returncode


def check(sallyport, place):
    root, repo, home = place / "root", place / "repo", place / "home"
    for directory in (root, repo, home):
        directory.mkdir()
    make_root(root)
    archive = place / "root.tar"
    subprocess.run(["tar", "-C", root, "-cf", archive, "."], check=True)
    subprocess.run(["docker", "import", archive, "base:local"], check=True, stdout=subprocess.DEVNULL)
    start = ["/bin/sh", "-c", "echo x > /etc/planted; cat /root/.ssh/id_rsa; exit 3"]
    (repo / "Dockerfile").write_text(f"FROM base:local\nCMD {json.dumps(start)}\n")
    before = subprocess.run(["docker", "images", "-aq"], capture_output=True, text=True, check=True).stdout
    scanner, code = probe(sallyport, repo, home)
    names = {(item["kind"], item["name"]) for item in scanner["inventory"]}
    rules = {finding["rule"] for finding in scanner["findings"]}
    assert (scanner["outcome"], code) == ("ran", 1), scanner
    assert ("way", "container") in names and ("write", "/etc/planted") in names and ("end", "exited with 3") in names, names
    assert {"trace-writes-outside", "trace-asks-for-secret"} <= rules, rules
    for listing in (["docker", "ps", "-aq"], ["docker", "images", "-aq"]):
        left = subprocess.run(listing, capture_output=True, text=True, check=True).stdout
        assert left == ("" if "ps" in listing else before), left
    print("ok: traced in a container, nothing left with the daemon")


def main():
    if os.geteuid() != 0 or shutil.which("dockerd") is None or shutil.which("docker") is None:
        print("skipped: needs root and Debian's docker.io")
        return SKIPPED
    if len(sys.argv) == 2:
        return subprocess.run(["unshare", "--mount", "--propagation", "private", sys.executable, "-B", __file__, sys.argv[1], "inside"],
                              check=False, timeout=600).returncode
    os.environ["PATH"] = "/usr/bin:/bin:/usr/sbin:/sbin"
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
    with tempfile.TemporaryDirectory(prefix="sallyport-docker-") as place:
        daemon = Daemon(Path(place))
        try:
            check(sys.argv[1], Path(place))
        finally:
            daemon.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
