"""`sallyport workspace` from outside: the program's own words, hostile names, and its owner killed at any moment."""
import hashlib
import json
import os
import random
import subprocess
import sys
import time
import unittest

from common import JAILS, PLAIN_ID, SALLYPORT, Place

DEEP = os.environ.get("SALLYPORT_DEEP") == "1"


def fingerprint(root) -> str:
    """Names, modes, contents and times of everything below."""
    digest = hashlib.sha256()
    for directory, names, files in sorted(os.walk(root)):
        names.sort()
        for name in sorted(names + files):
            path = os.path.join(directory, name)
            info = os.lstat(path)
            digest.update(f"{path} {info.st_mode} {info.st_size} {info.st_mtime_ns} {info.st_ctime_ns}\0".encode())
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    digest.update(file.read())
    return digest.hexdigest()


class WorkspaceTest(Place):
    def setUp(self) -> None:
        super().setUp()
        (self.repo / "edited").write_text("before\n")
        (self.repo / "gone").write_text("gone\n")
        (self.repo / "dir").mkdir()
        (self.repo / "dir/one").write_text("one\n")
        self.before = fingerprint(self.repo)

    def workspace(self, *words: str) -> subprocess.CompletedProcess:
        return self.run_it([SALLYPORT, "workspace", *words])

    def change(self, name: str, script: str, jail: str = "native") -> subprocess.CompletedProcess:
        return self.run_it(self.argv(["sh", "-c", script], "--workspace", name, jail=jail))

    def test_runs_share_it_and_chosen_changes_go_back(self) -> None:
        for jail in ("native", "bwrap"):
            if jail not in JAILS:
                continue
            with self.subTest(jail=jail):
                name = f"try-{jail}"
                self.assertEqual(self.change(name, "echo after > edited; rm gone; echo x > new", jail).returncode, 0)
                done = self.change(name, "cat edited new; test ! -e gone", jail)
                self.assertEqual((done.returncode, done.stdout), (0, b"after\nx\n"), done.stderr)
                self.assertEqual(fingerprint(self.repo), self.before)
                text = self.workspace("diff", name).stdout.decode()
                for line in ("deleted   gone", "changed   edited", "created   new", "3 changes, 0 findings"):
                    self.assertIn(line, text)
                record = json.loads(self.workspace("diff", name, "--json").stdout)
                self.assertEqual([one["path"] for one in record["changes"]], ["gone", "edited", "new"])
                patch = self.workspace("diff", name, "--patch").stdout
                check = subprocess.run(["git", "apply", "--check", "-"], input=patch, cwd=self.repo, capture_output=True)
                self.assertEqual(check.returncode, 0, check.stderr)
                dry = self.workspace("commit", name, "--all", "--dry-run")
                self.assertEqual((dry.returncode, fingerprint(self.repo)), (0, self.before), dry.stderr)
                alias = self.change(name, "echo by alias > /work/edited; cat edited", jail)
                self.assertEqual(alias.stdout, b"by alias\n", alias.stderr)
                self.assertEqual(fingerprint(self.repo), self.before)
                self.assertEqual(self.workspace("discard", name).returncode, 0)
        self.change("last", "echo after > edited; rm gone")
        self.assertEqual(self.workspace("commit", "last", "edited").returncode, 0)
        self.assertEqual((self.repo / "edited").read_text(), "after\n")
        self.assertTrue((self.repo / "gone").exists())
        listed = json.loads(self.workspace("list", "--json").stdout)["workspaces"]
        self.assertEqual([(one["name"], one["mechanism"]) for one in listed], [("last", "overlay")])

    def explain(self, *options: str, jail: str = "native", cwd: str = "") -> subprocess.CompletedProcess:
        where = ("--cwd", str(self.repo / cwd)) if cwd else ()
        return self.run_it([SALLYPORT, "explain", "--jail", jail, "--policy", str(self.policy), "--repo", str(self.repo), *options, *where,
                            "--", "sh", "-c", "true"])

    def test_explain_says_what_a_run_in_it_will_do_and_makes_nothing(self) -> None:
        everything = lambda: sorted(str(path) for path in self.dir.rglob("*"))
        for jail, mechanism in (("native", "overlay"), ("bwrap", "copy")):
            if jail not in JAILS:
                continue
            with self.subTest(jail=jail):
                name = f"seen-{jail}"
                before = everything()
                done = self.explain("--workspace", name, "--json", jail=jail)
                self.assertEqual(done.returncode, 0, done.stderr)
                planned = json.loads(done.stdout)
                self.assertEqual(planned["plan"]["layers"], [{"over": str(self.repo.resolve()), "mechanism": mechanism}])
                self.assertIn("fs.repo_untouched", [one["name"] for one in planned["guarantees"]])
                self.assertIn(b"is written in", self.explain("--workspace", name, jail=jail).stdout)
                self.assertEqual(everything(), before)
                ran = json.loads(self.run_it(self.argv(["sh", "-c", "true"], "--workspace", name, "--json", jail=jail)).stdout)
                untouched = lambda guarantees: [one for one in guarantees if one["name"] == "fs.repo_untouched"]
                means = [one["mechanism"].removesuffix(" (reflink)") for one in untouched(ran["receipt"]["guarantees"])]
                self.assertEqual(means, [one["mechanism"] for one in untouched(planned["guarantees"])])
                # explain describes an existing workspace, with what an earlier run made.
                self.assertEqual(self.change(name, "mkdir made", jail).returncode, 0)
                layers = fingerprint(self.home)
                self.assertEqual(self.explain("--workspace", name, jail=jail, cwd="made").returncode, 0)
                self.assertEqual(self.explain("--workspace", name, jail=jail, cwd="never").returncode, 125)
                self.assertEqual(fingerprint(self.home), layers)
                self.workspace("discard", name)
        for wrong in (("--workspace", "a/b"), ("--workspace", ""), ("--workspace", "w", "--writable-repo"),
                      ("--workspace", "w", "--workspace-dir", str(self.repo / "inside"))):
            before = everything()
            self.assertEqual(self.explain(*wrong).returncode, 125, wrong)
            self.assertEqual(everything(), before)
            self.assertEqual(self.run_it(self.argv(["sh", "-c", "true"], "--no-audit", *wrong)).returncode, 125, wrong)
            self.assertFalse((self.repo / "inside").exists())
        self.change("taken", "true")
        other = self.dir / "other"
        other.mkdir()
        done = self.run_it([SALLYPORT, "explain", "--repo", str(other), "--workspace", "taken", "--", "git", "status"])
        self.assertEqual(done.returncode, 125)
        self.assertIn(b"is one of", done.stderr)

    def test_a_conflict_writes_nothing_and_exits_with_one(self) -> None:
        self.change("clash", "echo mine > edited; echo x > new")
        time.sleep(0.02)  # longer than the tick of the clock that file systems stamp with
        (self.repo / "edited").write_text("a person's\n")
        done = self.workspace("commit", "clash", "--all")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"conflict", done.stdout)
        self.assertEqual((self.repo / "edited").read_text(), "a person's\n")
        self.assertFalse((self.repo / "new").exists())

    def test_a_second_name_of_a_file_is_no_conflict(self) -> None:
        self.assertEqual(self.change("linked", "ln edited second").returncode, 0)
        done = self.workspace("commit", "linked", "--all")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual((self.repo / "second").read_text(), "before\n")
        # The control: a file that was deleted on the host since still is one.
        self.assertEqual(self.change("other", "echo after > edited").returncode, 0)
        (self.repo / "edited").unlink()
        self.assertEqual(self.workspace("commit", "other", "--all").returncode, 1)
        self.assertFalse((self.repo / "edited").exists())

    def test_hostile_names_never_reach_the_terminal_as_they_are(self) -> None:
        script = "printf x > \"$(printf 'a\\033[2Jb\\nc')\"; ln -s \"$(printf '/etc\\033]0;x')\" l; printf 'a\\033[2J\\n' > edited"
        self.assertEqual(self.change("odd", script).returncode, 0)
        for words in (("diff", "odd"), ("commit", "odd", "--all", "--dry-run"), ("list",)):
            done = self.workspace(*words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn(b"\033", done.stdout + done.stderr)
        self.assertIn(b"deceptive-name", self.workspace("diff", "odd").stdout)
        self.assertIn(b"symlink-out", self.workspace("diff", "odd").stdout)

    def test_wrong_words_are_refused_with_advice(self) -> None:
        self.change("right", "true")
        for words, advice in ((("dif", "right"), b"did you mean 'diff'"), (("diff", "rigth"), b"did you mean 'right'"),
                              (("diff",), b"no name"), (("discard", "../../x"), b"none called"),
                              (("new", "right"), b"there is one"), (("new", "a/b"), b"no name for one"),
                              (("commit", "right"), b"nothing is selected"), ((), b"no subcommand")):
            done = self.workspace(*words)
            self.assertEqual(done.returncode, 125, words)
            self.assertIn(advice, done.stderr, words)
        refused = self.run_it(self.argv(["true"], "--workspace", "right", jail="none"))
        self.assertEqual(refused.returncode, 125)
        self.assertEqual(fingerprint(self.repo), self.before)

    def test_the_quota_ends_the_run(self) -> None:
        self.assertEqual(self.workspace("new", "small", "--quota", "8M").returncode, 0)
        argv = self.argv(["sh", "-c", "head -c 500M /dev/zero > big"], "--workspace", "small", "--json")
        record = json.loads(self.run_it(argv).stdout)
        self.assertEqual(record["outcome"], "disk_quota_exceeded")
        self.assertEqual(record["evidence"]["quota_bytes"], 8 << 20)
        self.assertEqual(fingerprint(self.repo), self.before)

    def test_two_runs_at_once_are_refused(self) -> None:
        first = self.start(self.argv(["sh", "-c", "echo ready; sleep 30"], "--workspace", "one"),
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.assertEqual(first.stdout.readline(), b"ready\n")
        second = self.change("one", "true")
        self.assertEqual(second.returncode, 125)
        self.assertIn(b"in use", second.stderr)
        self.assertEqual(self.workspace("discard", "one").returncode, 125)
        self.assertIn(b"in use", self.workspace("list").stdout)

    def test_killed_at_any_moment_the_repo_is_as_it_was(self) -> None:
        script = "i=0; while :; do i=$((i+1)); echo $i > edited; rm -f gone; mkdir -p d$i; echo x > d$i/f; mv d$i/f dir/f$i; done"
        rounds = 1000 if DEEP else 25
        seed = random.randrange(1 << 30)
        moments = random.Random(seed)
        for i in range(rounds):
            owner = self.start(self.argv(["sh", "-c", script], "--workspace", "killed"),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(moments.random() * 0.06)
            owner.kill()
            owner.wait()
            self.assertEqual(fingerprint(self.repo), self.before, f"round {i}, seed {seed}")
        # Its jail dies with it; then the workspace can be used again, and removed.
        for _ in range(100):
            done = self.change("killed", "true")
            if done.returncode == 0:
                break
            time.sleep(0.05)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.workspace("diff", "killed").returncode, 0)
        self.assertEqual(self.workspace("discard", "killed").returncode, 0)
        self.assertEqual(self.workspace("list").stdout, b"")
        self.assertEqual(fingerprint(self.repo), self.before)

    def test_a_plain_user_has_an_overlay_too(self) -> None:
        if os.geteuid() != 0:
            self.skipTest("this whole test runs as a plain user")
        user = PLAIN_ID
        for path in (self.dir, self.repo, self.repo / "edited", self.repo / "gone", self.repo / "dir",
                     self.repo / "dir/one", self.home, self.policy):
            os.chown(path, user, user)
        before = fingerprint(self.repo)

        def run(*argv: str) -> subprocess.CompletedProcess:
            return self.run_it(list(argv), user=user, group=user, extra_groups=[])

        script = "echo after > edited; rm gone; rm -r dir; mkdir dir; chmod 0 dir; echo y > new"
        done = run(*self.argv(["sh", "-c", script], "--workspace", "plain", "--require", "fs.repo_untouched"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(fingerprint(self.repo), before)
        record = json.loads(run(SALLYPORT, "workspace", "diff", "plain", "--json").stdout)
        self.assertEqual([(one["kind"], one["path"]) for one in record["changes"]],
                         [("deleted", "dir/one"), ("deleted", "gone"), ("metadata", "dir"), ("changed", "edited"),
                          ("created", "new")])
        self.assertEqual(json.loads(run(SALLYPORT, "workspace", "list", "--json").stdout)["workspaces"][0]["mechanism"],
                         "overlay")
        self.assertEqual(run(SALLYPORT, "workspace", "commit", "plain", "edited", "gone").returncode, 0)
        self.assertEqual((self.repo / "edited").read_text(), "after\n")
        self.assertFalse((self.repo / "gone").exists())
        self.assertEqual(run(SALLYPORT, "workspace", "discard", "plain").returncode, 0)

    def test_root_runs_over_a_users_repo_as_that_user(self) -> None:
        if os.geteuid() != 0:
            self.skipTest("only root can give a directory away")
        user = PLAIN_ID
        for path in (self.repo, self.repo / "edited", self.repo / "gone", self.repo / "dir", self.repo / "dir/one"):
            os.chown(path, user, user)
        before = fingerprint(self.repo)
        script = "echo after > edited; rm gone; echo x > dir/new; stat -c %u edited dir/new . | sort -u"
        done = self.change("theirs", script)
        self.assertEqual((done.returncode, len(done.stdout.split())), (0, 1), done.stdout + done.stderr)
        self.assertEqual(fingerprint(self.repo), before)
        record = json.loads(self.workspace("diff", "theirs", "--json").stdout)
        self.assertEqual([(one["kind"], one["path"]) for one in record["changes"]],
                         [("deleted", "gone"), ("created", "dir/new"), ("changed", "edited")])
        if "bwrap" in JAILS:
            refused = self.change("copied", "true", "bwrap")
            self.assertEqual(refused.returncode, 125)
            self.assertIn(b"a jail that mounts an overlay", refused.stderr)
        done = self.workspace("commit", "theirs", "--all")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.repo / "edited").read_text(), "after\n")
        for path in ("edited", "dir/new"):
            self.assertEqual((os.stat(self.repo / path).st_uid, os.stat(self.repo / path).st_gid), (user, user), path)
        self.assertFalse((self.repo / "gone").exists())

    def test_a_limit_of_the_callers_files_is_an_error_and_not_the_end(self) -> None:
        self.assertEqual(self.change("large", "head -c 3000000 /dev/zero > big; echo x > small").returncode, 0)
        limit = ["bash", "-c", 'ulimit -f 2000; exec "$@"', "bash"]  # KiB
        done = self.run_it([*limit, SALLYPORT, "workspace", "commit", "large", "--all"])
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn(b"big", done.stderr)
        left = [path.name for path in self.repo.iterdir() if path.name.startswith(".sallyport")]
        self.assertEqual(left, [])
        self.assertFalse((self.repo / "big").exists())
        self.assertEqual(self.workspace("commit", "large", "--all").returncode, 0)
        self.assertEqual((self.repo / "big").stat().st_size, 3000000)
        if "bwrap" not in JAILS:
            return
        # The private copy, which bwrap needs.
        done = self.run_it([*limit, *self.argv(["sh", "-c", ":"], "--workspace", "copied", jail="bwrap")])
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn(b"big", done.stderr)
        self.assertEqual(self.run_it(self.argv(["sh", "-c", ":"], "--workspace", "copied", jail="bwrap")).returncode, 0)


if __name__ == "__main__":
    sys.exit(unittest.main())
