#!/usr/bin/python3
"""Root over a user's repo, as in a CI container, and a user's umask and streams; see everyday.py."""

import json
import os
import signal
import subprocess
import time
import unittest
from pathlib import Path

import everyday
from everyday import Everyday

OWNER = everyday.free_id()
GROUP = everyday.free_id(OWNER + 1)
AS_OWNER = {"user": OWNER, "group": GROUP, "extra_groups": []}


def as_root(test):
    return unittest.skipUnless(os.geteuid() == 0, "only root can give files away")(test)


class Owner(Everyday):
    """A repo that belongs to somebody else and that nobody but its owner can read, below a directory of root's alone."""

    def setUp(self):
        super().setUp()
        self.shell = self.policy("shell")
        (self.repo / "secret.txt").write_text("theirs\n", encoding="utf-8")
        (self.repo / "secret.txt").chmod(0o600)
        self.reachable(True)

    def reachable(self, yes):
        self.root.chmod(0o755 if yes else 0o700)

    def give_away(self):
        for path in (self.repo, *self.repo.rglob("*")):
            os.lchown(path, OWNER, GROUP)
        self.repo.chmod(0o700)

    def record(self, script, *options, jail="native"):
        ran = self.run_tool("sh", "-c", script, options=(*self.shell, "--json", *options), jail=jail)
        record = json.loads(ran.stdout)
        self.assertEqual(record.get("outcome"), "completed", record)
        return record

    @as_root
    def test_reads_writes_and_leaves_files_as_the_repos_owner(self):
        self.give_away()
        for jail in ("native", "bwrap"):
            record = self.record("cat secret.txt; umask 027; echo x >made; mkdir dir", "--writable-repo", jail=jail)
            self.assertEqual((record["exit_code"], record["stdout"]), (0, "theirs\n"), (jail, record))
            self.assertEqual(record["receipt"]["run_as"], {"uid": OWNER, "gid": GROUP})
            for made, mode in ((self.repo / "made", 0o640), (self.repo / "dir", 0o750)):
                about = made.stat()
                self.assertEqual((about.st_uid, about.st_gid, about.st_mode & 0o777), (OWNER, GROUP, mode), made)
            (self.repo / "made").unlink()
            (self.repo / "dir").rmdir()

    @as_root
    def test_git_works_in_it(self):
        self.git_repo()
        self.give_away()
        ran = self.run_tool("git", "log", "--oneline")
        self.assertEqual((ran.returncode, ran.stdout.count("\n")), (0, 2), ran.stderr)

    @as_root
    def test_root_shows_it_also_where_its_owner_cannot_go(self):
        self.give_away()
        self.reachable(False)
        record = self.record("cat secret.txt; id -u")
        self.assertEqual((record["exit_code"], record["stdout"]), (0, "theirs\n1000\n"), record)

    @as_root
    def test_what_is_roots_alone_stays_closed(self):
        secret = self.root / "roots.txt"
        secret.write_text("roots\n", encoding="utf-8")
        secret.chmod(0o600)
        read = f"cat {secret}; grep CapEff /proc/self/status; grep Groups /proc/self/status"
        # The control: over a repo of root's own the tool is root outside.
        self.assertIn("roots\n", self.record(read, "--ro", secret)["stdout"])
        self.give_away()
        record = self.record(read, "--ro", secret)
        self.assertNotIn("roots\n", record["stdout"])
        self.assertIn("Permission denied", record["stderr"])
        self.assertIn("CapEff:\t0000000000000000", record["stdout"])
        self.assertEqual(record["stdout"].splitlines()[-1].split(), ["Groups:"])

    @as_root
    def test_its_owner_cannot_trace_the_jail_from_outside(self):
        self.give_away()
        marker = self.repo / "running"
        with subprocess.Popen([everyday.SALLYPORT, "run", "--jail", "native", "--repo", self.repo, "--writable-repo", *self.shell,
                               "--", "sh", "-c", "echo >running; exec sleep 1000"], env=self.env(), cwd=self.repo,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            try:
                self.wait_for(marker.exists)
                inside = [pid for pid in Path("/proc").iterdir() if pid.name.isdigit() and self.is_in_jail(pid, run.pid)]
                self.assertGreaterEqual(len(inside), 2, "init and the tool")
                # /proc/PID/environ asks what ptrace asks. The control: another process of the owner's.
                with subprocess.Popen(["sleep", "1000"], **AS_OWNER) as control:
                    own = subprocess.run(["cat", f"/proc/{control.pid}/environ"], **AS_OWNER, capture_output=True, check=False)
                    control.kill()
                self.assertEqual(own.returncode, 0, own.stderr)
                for pid in inside:
                    seen = subprocess.run(["cat", pid / "environ"], **AS_OWNER, capture_output=True, check=False)
                    self.assertIn(b"Permission denied", seen.stderr, pid)
            finally:
                run.send_signal(signal.SIGTERM)

    def is_in_jail(self, pid, owner):
        try:
            user = os.readlink(pid / "ns" / "user")
            ids = (pid / "status").read_text(encoding="utf-8")
        except OSError:
            return False
        return user != os.readlink(f"/proc/{owner}/ns/user") and f"Uid:\t{OWNER}\t" in ids

    def wait_for(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    @as_root
    def test_nobody_survives_the_helper(self):
        self.give_away()
        run = subprocess.Popen([everyday.SALLYPORT, "run", "--jail", "native", "--repo", self.repo, "--writable-repo", *self.shell,
                                "--", "sh", "-c", "echo >running; exec sleep 1000"], env=self.env(), cwd=self.repo,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_for((self.repo / "running").exists)
        inside = [pid for pid in Path("/proc").iterdir() if pid.name.isdigit() and self.is_in_jail(pid, run.pid)]
        self.assertGreaterEqual(len(inside), 2)
        run.kill()
        run.wait()
        self.wait_for(lambda: not any(pid.exists() for pid in inside))

    def test_ones_own_repo_needs_no_other_user(self):
        self.assertIsNone(self.record("true")["receipt"]["run_as"])

    @as_root
    def test_explain_says_so(self):
        self.give_away()
        explained = self.sallyport("explain", "--jail", "native", "--repo", self.repo, "--", "git", "status")
        self.assertIn(f"runs as      user {OWNER}, group {GROUP}: the repo's owner", explained.stdout)
        bare = self.sallyport("explain", "--jail", "none", "--repo", self.repo, "--", "git", "status")
        self.assertEqual((bare.returncode, "runs as" in bare.stdout), (0, False), bare.stderr)

    def test_the_umask_is_the_callers(self):
        for mask in (0o002, 0o027, 0o077):
            before = os.umask(mask)
            try:
                record = self.record("umask")
            finally:
                os.umask(before)
            self.assertEqual(record["stdout"], f"{mask:04o}\n")


class OneStream(Everyday):
    SCRIPT = "i=0; while [ $i -lt 300 ]; do echo out$i; echo err$i >&2; i=$((i+1)); done"
    EXPECTED = "".join(f"out{i}\nerr{i}\n" for i in range(300))

    def together(self, jail, stdout, stderr):
        return subprocess.run([everyday.SALLYPORT, "run", "--jail", jail, "--repo", self.repo, *self.policy("shell"),
                               "--allow-unjailed", "--", "sh", "-c", self.SCRIPT], env=self.env(), cwd=self.repo, stdin=subprocess.DEVNULL, stdout=stdout,
                              stderr=stderr, text=True, timeout=120, check=True)

    def test_one_pipe_keeps_the_order(self):
        for jail in ("native", "bwrap", "none"):
            self.assertEqual(self.together(jail, subprocess.PIPE, subprocess.STDOUT).stdout, self.EXPECTED, jail)

    def test_two_pipes_stay_two(self):
        ran = self.together("native", subprocess.PIPE, subprocess.PIPE)
        self.assertEqual(ran.stdout, "".join(f"out{i}\n" for i in range(300)))
        self.assertEqual(ran.stderr, "".join(f"err{i}\n" for i in range(300)))

    def test_a_record_keeps_them_apart(self):
        ran = subprocess.run([everyday.SALLYPORT, "run", "--repo", self.repo, *self.policy("shell"), "--json", "--", "sh", "-c",
                              "echo out; echo err >&2"], env=self.env(), cwd=self.repo, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
        record = json.loads(ran.stdout)
        self.assertEqual((record["stdout"], record["stderr"]), ("out\n", "err\n"))


if __name__ == "__main__":
    everyday.main()
