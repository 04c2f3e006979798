"""The container jail with Podman and with a Docker daemon of our own: one image made of this host's own programs.

  usage: container_jail.py --sallyport FILE --misbehave DIR [unittest arguments]

Needs root, docker.io and podman (tools/setup.sh long). What it makes is in a directory of its own, and is removed.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from engines import Docker, Podman, copy_programs, processes_with, run, wait_until

ARGS = None
TOOLS = ("exit_with", "die_by_signal", "print_args", "print_env", "sleep_forever", "sleep_tree", "print_stdin", "print_bytes",
         "fill_scratch", "eat_memory", "leave_mark", "escape_daemon", "burn_cpu")
POLICY = 'schema = "sallyport.policy/1"\n' + "".join(
    f'[[tool]]\nname = "{name}"\ndecision_record = "a test"\nreason = "misbehaves"\n' for name in (*TOOLS, "absent_tool"))


def make_root(root):
    """This host's git, rg, node and shell, and our own programs that misbehave."""
    for name in ("bin", "usr/bin", "tmp", "etc", "usr/lib/git-core"):
        (root / name).mkdir(parents=True, exist_ok=True)
    programs = {f"usr/bin/{name}": ARGS.misbehave / name for name in TOOLS}
    for name in ("git", "rg", "node", "busybox"):
        found = shutil.which(name)
        if found:
            programs[f"usr/bin/{name}"] = Path(os.path.realpath(found))
    copy_programs(root, programs)
    (root / "bin/sh").symlink_to("/usr/bin/busybox")
    (root / "usr/bin/scripted").write_text("#!/bin/sh\necho scripted $1\n", encoding="utf-8")
    (root / "usr/bin/scripted").chmod(0o755)


class Cases:
    """The conformance suite's cases, by the command line."""

    @classmethod
    def setUpClass(cls):
        cls.dir = Path(tempfile.mkdtemp(prefix="sallyport-container-", dir="/var/tmp"))
        cls.dir.chmod(0o755)
        cls.engine = cls.make_engine(cls.dir)
        root = cls.dir / "image"
        make_root(root)
        cls.engine.import_root(root, "tools:test")
        cls.repo = cls.dir / "repo"
        cls.repo.mkdir()
        (cls.dir / "policy.toml").write_text(POLICY, encoding="utf-8")
        (cls.repo / "a.txt").write_text("needle\n", encoding="utf-8")
        identity = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@deep.test", "GIT_COMMITTER_NAME": "A",
                    "GIT_COMMITTER_EMAIL": "a@deep.test", "HOME": str(cls.dir), "PATH": "/usr/bin:/bin"}
        for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "first")):
            run("git", *words, cwd=cls.repo, env=identity)

    @classmethod
    def tearDownClass(cls):
        cls.engine.stop()
        shutil.rmtree(cls.dir, ignore_errors=True)

    def tearDown(self):
        self.assertTrue(wait_until(lambda: self.engine.containers() == []), self.engine.containers())
        left = [path for path in Path("/tmp").glob("sallyport-*/held-elsewhere")]
        self.assertEqual(left, [])

    def sallyport(self, *words, image="tools:test", policy=True, options=(), verb="run", **how):
        own = ("--policy", self.dir / "policy.toml") if policy else ()
        return run(ARGS.sallyport, verb, *self.engine.options(image), "--repo", self.repo, *own, *options, "--no-audit", *
                   (("--json",) if how.pop("as_json", True) else ()), "--", *words, check=False, cwd=self.repo, **how)

    def record(self, *words, **how):
        done = self.sallyport(*words, **how)
        try:
            return json.loads(done.stdout)
        except ValueError:
            self.fail(f"{words}: {done.returncode} {done.stdout[-500:]} {done.stderr[-1000:]}")
        return None

    def outcome(self, *words, **how):
        said = self.record(*words, **how)
        return said["outcome"] if "outcome" in said else said

    def test_exit_codes_and_signals(self):
        for code in ("0", "1", "137"):
            said = self.record("exit_with", code)
            self.assertEqual((said.get("outcome"), said.get("exit_code")), ("completed", int(code)), said)
        self.assertEqual(self.record("die_by_signal", "11").get("signal"), 11)

    def test_arguments_output_and_stdin_byte_for_byte(self):
        said = self.record("print_args", "", "two words", "$(id)")
        self.assertEqual((said["stdout"], said["stderr"]), ("[]\n[two words]\n[$(id)]\n", ""))
        piped = bytes(range(256)) * 4096
        done = self.sallyport("print_stdin", options=("--stdin",), as_json=False, input=piped, stdin=None)
        self.assertEqual(done.stdout, piped)

    def test_the_environment_is_the_plans(self):
        said = self.record("print_env", options=("--env", "GIVEN=yes"))["stdout"]
        names = {line.split("=")[0] for line in said.splitlines()}
        self.assertIn("GIVEN=yes", said)
        self.assertLessEqual(names, {"PATH", "HOME", "LANG", "LC_ALL", "GIVEN"})

    def test_deadline_and_cancel(self):
        self.assertEqual(self.outcome("sleep_forever", options=("--timeout", "4s")), "timed_out")
        self.assertEqual(self.outcome("sleep_forever", options=("--timeout", "100ms")), "timed_out")  # before the container is there
        owner = subprocess.Popen([str(word) for word in (
            ARGS.sallyport, "run", *self.engine.options("tools:test"), "--repo", self.repo, "--policy", self.dir / "policy.toml", "--no-audit",
            "--", "sleep_forever", "marker-cancel")], cwd=self.repo, stderr=subprocess.DEVNULL)
        self.assertTrue(wait_until(lambda: processes_with(b"marker-cancel\0") and self.inside(b"marker-cancel")))
        owner.send_signal(signal.SIGINT)
        self.assertEqual(owner.wait(60), 130)
        self.assertEqual(self.inside(b"marker-cancel"), [])

    @staticmethod
    def inside(marker):
        """Processes of the tool itself, not those that name it to start it."""
        return processes_with(marker, b"sleep_forever\0")

    def test_nothing_is_left_when_the_owner_is_killed(self):
        owner = subprocess.Popen([str(word) for word in (
            ARGS.sallyport, "run", *self.engine.options("tools:test"), "--repo", self.repo, "--policy", self.dir / "policy.toml", "--no-audit",
            "--", "sleep_forever", "marker-kill")], cwd=self.repo)
        self.assertTrue(wait_until(lambda: self.inside(b"marker-kill")))
        owner.kill()
        owner.wait()
        self.assertTrue(wait_until(lambda: self.inside(b"marker-kill") == []))
        # What only the next start removes.
        self.assertEqual(self.outcome("exit_with", "0"), "completed")

    def test_memory_disk_and_processes_are_bounded(self):
        said = self.record("eat_memory", "256", options=("--memory", "64MiB"))
        self.assertEqual(said.get("outcome"), "oom_killed", said)
        said = self.record("fill_scratch", options=("--disk", "8MiB"))
        self.assertEqual(said.get("outcome"), "disk_quota_exceeded", said)
        said = self.record("exit_with", "0", options=("--memory", "64MiB", "--pids", "32", "--require", "limit.pids"))
        self.assertEqual(said.get("outcome"), "completed", said)

    def test_output_is_capped(self):
        said = self.record("print_bytes", "1000000", options=("--max-output", "1000"))
        self.assertEqual(len(said["stdout"]), 1000, said.get("outcome"))
        self.assertTrue(said["stdout"].startswith("...[TRUNCATED]..."))

    def test_what_is_not_given_is_refused(self):
        for options in (("--require", "net.egress_allowlist"), ("--noexec", "."), ("--memory", "64MiB", "--require", "limit.memory"), ("--cpu", "1s", "--require",
                                                                                                                "limit.cpu")):
            done = self.sallyport("leave_mark", self.repo / "mark", options=(*options, "--writable-repo"))
            self.assertEqual(done.returncode, 125, done.stdout)
        self.assertFalse((self.repo / "mark").exists())
        self.assertEqual(self.outcome("leave_mark", self.repo / "mark", options=("--writable-repo",)), "completed")  # the control
        self.assertTrue((self.repo / "mark").exists())
        (self.repo / "mark").unlink()
        self.outcome("leave_mark", self.repo / "mark")
        self.assertFalse((self.repo / "mark").exists())

    def test_real_tools_of_the_image(self):
        done = self.sallyport("git", "log", "--format=%s", policy=False, as_json=False)
        self.assertEqual(done.stdout, b"first\n", done.stderr)
        done = self.sallyport("rg", "-l", "needle", policy=False, as_json=False)
        self.assertIn(b"a.txt", done.stdout, done.stderr)
        done = self.sallyport("node", "-e", "console.log(6*7)", policy=False, as_json=False)
        self.assertEqual(done.stdout, b"42\n", done.stderr)

    def test_a_workspace_leaves_the_repo_untouched(self):
        where = ("--workspace", "w", "--workspace-dir", self.dir / "state")
        self.assertEqual(self.outcome("leave_mark", self.repo / "mark", options=where), "completed")
        self.assertFalse((self.repo / "mark").exists())
        changes = run(ARGS.sallyport, "workspace", "diff", "w", "--workspace-dir", self.dir / "state", check=False, cwd=self.repo)
        self.assertIn(b"mark", changes.stdout + changes.stderr)
        run(ARGS.sallyport, "workspace", "discard", "w", "--workspace-dir", self.dir / "state", check=False, cwd=self.repo)

    def test_the_digest_is_what_runs(self):
        digest = self.engine.image_id("tools:test")
        said = self.record("exit_with", "0", image=digest)
        self.assertEqual(said["receipt"]["binary"]["digest"], digest)
        self.assertEqual(self.record("exit_with", "0")["receipt"]["binary"]["digest"], digest)
        self.assertEqual(self.outcome("exit_with", "0", image="tools:test@" + digest), "completed")
        other = "sha256:" + "0" * 64
        for image in ("tools:test@" + other, other, "absent:test"):
            done = self.sallyport("exit_with", "0", image=image)
            self.assertEqual(done.returncode, 125, done.stdout)
            self.assertEqual(json.loads(done.stdout)["error"]["kind"], "jail_unavailable", done.stdout)

    def test_a_tool_that_the_image_lacks_is_missing(self):
        done = self.sallyport("absent_tool")
        self.assertEqual(done.returncode, 127, done.stdout)

    def test_attacks(self):
        """Nothing gets through. Attacks on limit.wall have one second, most of which a container needs to start: some are not tried,
        and doctor leaves with 1 for them."""
        done = run(ARGS.sallyport, "doctor", "--attack", "--json", *self.engine.options("tools:test"), check=False,
                   cwd=self.repo, timeout=3000)
        attacks = json.loads(done.stdout)["attacks"]
        self.assertGreater(sum(one["jailed"] == "blocked" for one in attacks), 200)
        self.assertEqual([one["name"] for one in attacks if one["jailed"] == "got through"], [])
        self.assertLess(sum(one["jailed"] == "not tried" for one in attacks), 10)


class WithPodman(Cases, unittest.TestCase):
    make_engine = Podman


class WithDocker(Cases, unittest.TestCase):
    make_engine = Docker

    def test_z_a_daemon_that_dies(self):
        """Last: the engine's init is left without a client, and ends by itself when nobody says that the owner lives."""
        owner = subprocess.Popen([str(word) for word in (
            ARGS.sallyport, "run", *self.engine.options("tools:test"), "--repo", self.repo, "--policy", self.dir / "policy.toml", "--no-audit",
            "--json", "--", "sleep_forever", "marker-daemon")], cwd=self.repo, stdout=subprocess.PIPE)
        self.assertTrue(wait_until(lambda: self.inside(b"marker-daemon")))
        self.engine.daemon.kill()
        self.engine.daemon.wait()
        said = json.loads(owner.communicate(timeout=120)[0])
        self.assertIn("error", said)
        self.assertTrue(wait_until(lambda: self.inside(b"marker-daemon") == []))
        self.engine.start()


def main():
    global ARGS
    parser = argparse.ArgumentParser()
    for name in ("--sallyport", "--misbehave"):
        parser.add_argument(name, type=Path, required=True)
    ARGS, rest = parser.parse_known_args()
    if os.geteuid() != 0:
        print("skipped: engines of our own need root")
        return 77
    for name in ("dockerd", "docker", "podman"):
        if shutil.which(name) is None:
            print(f"error: {name} is missing; tools/setup.sh long installs it", file=sys.stderr)
            return 1
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
