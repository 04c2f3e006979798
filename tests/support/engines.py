"""Container engines of a test's own, in a directory that it removes: a Podman, a Docker daemon, and images made of this host's programs."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path


def run(*words, check=True, **how):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          **({"stdin": subprocess.DEVNULL, "timeout": 600} | how))
    if check and done.returncode != 0:
        raise RuntimeError(f"{words}: {done.stderr}")
    return done


def libraries(program):
    said = run("ldd", program, check=False).stdout.decode()
    return {word for line in said.splitlines() for word in line.split() if word.startswith("/")}


def copy_programs(root, programs):
    """Files of this host by where they are to be in `root`, and the libraries that they need."""
    for target, source in programs.items():
        (root / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, root / target)
        for library in libraries(source):
            place = root / library[1:]
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(os.path.realpath(library), place)


class Engine:
    """What both have in common; `options` are sallyport's options for it."""

    def command(self, *words):
        return [str(word) for word in (self.program, *self.arguments, *words)]

    def __call__(self, *words, **how):
        return run(*self.command(*words), **how)

    def options(self, image):
        return ("--jail", "container", "--engine", self.program, "--image", image, *(f"--engine-arg={word}" for word in self.arguments))

    def import_root(self, root, name):
        with subprocess.Popen(["tar", "-C", root, "-c", "."], stdout=subprocess.PIPE) as tar:
            subprocess.run(self.command("import", "-", name), stdin=tar.stdout, check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)

    def image_id(self, name):
        said = json.loads(self("image", "inspect", name).stdout)[0]["Id"]
        return said if said.startswith("sha256:") else "sha256:" + said

    def containers(self):
        return self("ps", "--all", "--format", "{{.Names}}").stdout.decode().split()


class Podman(Engine):
    program = "podman"

    def __init__(self, directory):
        # crun, Podman's usual runtime, needs a pure cgroup v2 host; runc also knows v1.
        self.arguments = ("--root", directory / "root", "--runroot", directory / "run", "--tmpdir", directory / "tmp", "--runtime", "runc",
                          "--cgroup-manager", "cgroupfs", "--events-backend", "file")

    def stop(self):
        self("system", "reset", "--force", check=False)


class Docker(Engine):
    program = "docker"

    def __init__(self, directory):
        self.directory = directory
        self.arguments = ("-H", f"unix://{directory}/docker.sock")
        self.log = open(directory / "log", "w", encoding="utf-8")
        self.start()

    def start(self):
        self.daemon = subprocess.Popen(
            ["dockerd", "--iptables=false", "--ip6tables=false", "--bridge=none", "--storage-driver", "overlay2", "-H", self.arguments[1],
             "--data-root", self.directory / "data", "--exec-root", self.directory / "exec", "--pidfile", self.directory / "pid"],
            stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + 180
        while self("version", check=False).returncode != 0:
            if time.monotonic() > deadline or self.daemon.poll() is not None:
                raise RuntimeError((self.directory / "log").read_text(encoding="utf-8")[-2000:])
            time.sleep(0.2)

    def stop(self):
        self.daemon.terminate()
        self.daemon.wait(60)
        run("umount", self.directory / "data", check=False)  # dockerd leaves its own bind of it
        self.log.close()


def processes_with(marker, first=b""):
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes()
            if marker in words and words.startswith(first) and int(entry.name) != os.getpid():
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def wait_until(holds, seconds=60):
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
