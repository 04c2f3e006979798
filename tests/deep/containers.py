"""docs/containers.md, command by command, with a Docker daemon of our own and Podman; a new root made by debootstrap.

  usage: containers.py --sallyport FILE --page FILE --work DIR [unittest arguments]

Needs root, docker.io, podman and debootstrap (tools/setup.sh long), and Debian's mirror the first time. What it makes is in DIR.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ARGS = None
# What Debian's Podman needs on machines with cgroup v1; the page's readers have their own.
PODMAN_HERE = ("--runtime", "runc", "--cgroup-manager", "cgroupfs")
PODMAN_RUN_HERE = ("--network", "none", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024")


def run(*words, check=True, **how):
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, **({"timeout": 900} | how))
    if check and done.returncode != 0:
        raise RuntimeError(f"{words}: {done.stdout}")
    return done


def new_root(*more):
    """A minimal Debian with git, made once."""
    root = ARGS.work / "-".join(("root", *more))
    if not (root / ".complete").exists():
        shutil.rmtree(root, ignore_errors=True)
        run("debootstrap", "--variant=minbase", f"--include={','.join(('git', *more))}", "bookworm", root, mirror())
        (root / ".complete").touch()
    shutil.copy(ARGS.sallyport, root / "usr/local/bin/sallyport")
    return root


def commands(program):
    """(expected code, command) of each block marked for that program."""
    page = ARGS.page.read_text(encoding="utf-8")
    return [(int(code), text.strip()) for code, text in re.findall(rf"```sh {program} (\d+)\n(.*?)```", page, re.S)]


def mirror():
    """Where this host's own apt gets its packages."""
    said = subprocess.run(["apt-get", "indextargets", "--format", "$(RELEASE) $(REPO_URI)", "Created-By: Packages"], capture_output=True,
                          text=True, check=True).stdout
    return next(line.split()[1] for line in said.splitlines() if line.startswith("bookworm "))


class Containers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = new_root()
        # Below /var/tmp, because a daemon may have a /tmp of its own.
        cls.dir = Path(tempfile.mkdtemp(prefix="sallyport-containers-", dir="/var/tmp"))
        cls.dir.chmod(0o755)
        cls.repo = cls.dir / "repo"
        cls.repo.mkdir()
        identity = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@deep.test", "GIT_COMMITTER_NAME": "A",
                    "GIT_COMMITTER_EMAIL": "a@deep.test", "HOME": str(cls.dir), "PATH": "/usr/bin:/bin"}
        for words in (("init", "-q", "-b", "main"), ("commit", "-q", "--allow-empty", "-m", "first")):
            run("git", *words, cwd=cls.repo, env=identity)
        run("chown", "-R", "1000:1000", cls.repo)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir, ignore_errors=True)

    def check_all(self, program, translate, environment):
        page = commands(program)
        self.assertGreaterEqual(len(page), 2, "the page lost its commands")
        for code, command in page:
            done = run("/bin/sh", "-c", translate(command), check=False, cwd=self.repo, env=environment)
            self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}")
            if code == 0:
                self.assertRegex(done.stdout, r"(?m)^[0-9a-f]{7} first$", command)
            else:
                self.assertIn("--security-opt seccomp=unconfined", done.stdout, command)

    def say_the_same(self, start):
        """explain and doctor say there what run does."""
        explained = run(*start, "sallyport", "explain", "--require", "proc.pid_isolated", "--", "git", "log", check=False, cwd=self.repo)
        self.assertEqual(explained.returncode, 125, explained.stdout)
        self.assertIn("--security-opt seccomp=unconfined", explained.stdout)
        explained = run(*start, "sallyport", "explain", "--", "git", "log", check=False, cwd=self.repo)
        self.assertEqual(explained.returncode, 0, explained.stdout)
        self.assertIn("landlock", explained.stdout)
        examined = run(*start, "sallyport", "doctor", check=False, cwd=self.repo)
        self.assertEqual(examined.returncode, 0, examined.stdout)
        self.assertIn("--security-opt seccomp=unconfined", examined.stdout)
        self.assertRegex(examined.stdout, r"(?m)^landlock +works$")

    def holds_in_the_container_as_it_is(self, start):
        """Every attack against the landlock jail behind the container's own filter, as root and as a user."""
        for options in ((), ("--user", "1000:1000")):
            done = run(*start, *options, "-e", "HOME=/tmp", "-v", f"{self.repo}:/src", "-w", "/src", "deep:test", "sallyport", "doctor",
                       "--attack", "--jail", "landlock", check=False, cwd=self.repo)
            self.assertEqual(done.returncode, 0, done.stdout[-4000:])
            self.assertIn("Safe: none of the", done.stdout)


class Docker(Containers):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.socket = f"unix://{cls.dir}/docker.sock"
        cls.log = open(cls.dir / "log", "w", encoding="utf-8")
        cls.daemon = subprocess.Popen(["dockerd", "--iptables=false", "--ip6tables=false", "--bridge=none", "--storage-driver",
                                       "overlay2", "-H", cls.socket, "--data-root", cls.dir / "data", "--exec-root",
                                       cls.dir / "exec", "--pidfile", cls.dir / "pid"], stdout=cls.log, stderr=cls.log)
        deadline = time.monotonic() + 120
        while run("docker", "-H", cls.socket, "version", check=False).returncode != 0:
            if time.monotonic() > deadline or cls.daemon.poll() is not None:
                raise RuntimeError((cls.dir / "log").read_text(encoding="utf-8")[-2000:])
            time.sleep(0.2)
        with subprocess.Popen(["tar", "-C", cls.root, "-c", "."], stdout=subprocess.PIPE) as tar:
            subprocess.run(["docker", "-H", cls.socket, "import", "-", "deep:test"], stdin=tar.stdout, check=True,
                           stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.terminate()
        cls.daemon.wait(60)
        cls.log.close()
        super().tearDownClass()

    def test_the_pages_commands(self):
        environment = {"PATH": os.environ["PATH"], "DOCKER_HOST": self.socket}
        # The daemon has no bridge here.
        self.check_all("docker", lambda command: command.replace("--network none ", "").replace(
            "docker run ", "docker run --network none ").replace("IMAGE", "deep:test"), environment)

    def test_every_attack_on_landlock(self):
        self.holds_in_the_container_as_it_is(("docker", "-H", self.socket, "run", "--rm", "--network", "none"))

    def test_explain_and_doctor(self):
        self.say_the_same(("docker", "-H", self.socket, "run", "--rm", "--network", "none", "-v", f"{self.repo}:/src", "-w", "/src",
                           "deep:test"))


class Podman(Containers):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.podman = ("podman", "--root", cls.dir / "root", "--runroot", cls.dir / "run", "--tmpdir", cls.dir / "tmp", *PODMAN_HERE)
        with subprocess.Popen(["tar", "-C", cls.root, "-c", "."], stdout=subprocess.PIPE) as tar:
            subprocess.run([str(word) for word in (*cls.podman, "import", "-q", "-", "deep:test")], stdin=tar.stdout, check=True,
                           stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        run(*cls.podman, "system", "reset", "--force", check=False)
        super().tearDownClass()

    def test_the_pages_commands(self):
        start = " ".join(str(word) for word in (*self.podman, "run", *PODMAN_RUN_HERE))
        self.check_all("podman", lambda command: command.replace("podman run", start).replace("IMAGE", "deep:test"),
                       {"PATH": os.environ["PATH"], "HOME": str(self.dir)})

    def test_every_attack_on_landlock(self):
        self.holds_in_the_container_as_it_is((*self.podman, "run", "--rm", *PODMAN_RUN_HERE))

    def test_explain_and_doctor(self):
        self.say_the_same((*self.podman, "run", "--rm", *PODMAN_RUN_HERE, "-v", f"{self.repo}:/src", "-w", "/src", "deep:test"))


class NewRoot(Containers):
    """The installed program in a Debian that has nothing else of ours, entered with pivot_root and with chroot."""

    ENTER = ("mount --bind {0} {0} && cd {0} && mount -t proc proc proc && mount -t tmpfs tmpfs mnt && mkdir mnt/old && "
             "mount --bind {1} srv && pivot_root . mnt/old && umount -l /mnt/old && exec su -s /bin/sh -c \"$0\" newcomer")

    def setUp(self):
        run("chroot", self.root, "sh", "-c", "id newcomer 2>/dev/null || useradd -m -u 1000 newcomer")

    def test_a_new_user_runs_a_tool(self):
        script = self.ENTER.format(self.root, self.repo)
        done = run("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, "cd /srv && sallyport run -- git log --oneline",
                   check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"(?m)^[0-9a-f]{7} first$")

    def test_make_run_takes_a_new_user_from_nothing_to_a_validated_project(self):
        """README's first command: packages by sudo, the release, the example. `make test` is the same set-up and is run elsewhere."""
        root = new_root("sudo", "make", "ca-certificates")
        run("chroot", root, "sh", "-c", "id newcomer 2>/dev/null || useradd -m -u 1000 newcomer")
        (root / "etc/sudoers.d/newcomer").write_text("newcomer ALL=(ALL) NOPASSWD: ALL\n", encoding="utf-8")
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        for name in ("apt.conf", "apt.conf.d"):  # a proxy or certificates of this host's network
            if (Path("/etc/apt") / name).exists():
                run("cp", "-rT", Path("/etc/apt") / name, root / "etc/apt" / name)
        home = root / "home/newcomer/sallyport"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        project = Path(__file__).resolve().parents[2]
        run("sh", "-c", f"git -C {project} ls-files -z | tar -C {project} --null -T - -c | tar -C {home} -x")
        run("chroot", root, "chown", "-R", "newcomer", "/home/newcomer")
        script = "mount --rbind /dev {0}/dev && ".format(root) + self.ENTER.replace("mount --bind {0} {0}", "mount --rbind {0} {0}")
        done = run("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script.format(root, self.repo),
                   "cd ~/sallyport && sudo apt-get update -qq && make run", check=False, timeout=5000)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])
        alarms = re.findall(r"(?m)^(?!sallyport: warning:).*warning:.*$", done.stdout)
        self.assertEqual([line for line in alarms if not line.startswith("dpkg")], [])  # of the compiler or the linker
        self.assertTrue((home / "build/release/bin/sallyport").exists())

    def test_a_plain_chroot_says_what_is_missing(self):
        proc = "mount -t proc proc proc; "
        for mounts, options, code, words in (("", "", 125, "/proc is not mounted here"),
                                             (proc, "--jail native", 125, "in a chroot: use a container"),
                                             ("", "--jail landlock", 125, "/proc is not mounted here"),
                                             (proc, "--require proc.pid_isolated", 125, "in a chroot: use a container"),
                                             (proc, "", 0, 'only the jail "landlock" works here')):
            done = run("unshare", "--mount", "sh", "-c", f"cd {self.root}; {mounts}mount --bind {self.repo} srv; exec chroot . sh -c "
                       f"'cd /srv && sallyport run {options} -- git log --oneline'", check=False)
            self.assertEqual(done.returncode, code, done.stdout)
            self.assertIn(words, done.stdout)
            if code == 0:
                self.assertRegex(done.stdout, r"(?m)^[0-9a-f]{7} first$")


def main():
    global ARGS
    parser = argparse.ArgumentParser()
    for name in ("--sallyport", "--page", "--work"):
        parser.add_argument(name, type=Path, required=True)
    ARGS, rest = parser.parse_known_args()
    if os.geteuid() != 0:
        print("skipped: containers of our own need root")
        return 77
    for name in ("dockerd", "docker", "podman", "debootstrap"):
        if shutil.which(name) is None:
            print(f"error: {name} is missing; tools/setup.sh long installs it", file=sys.stderr)
            return 1
    ARGS.work.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
