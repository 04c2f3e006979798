"""A bind mount gives a directory a second name. What a receipt promises for one name must hold for the other, or the
gate refuses the call."""
import json
import subprocess

from common import SALLYPORT, Place, main

# In namespaces of its own, in which anybody may mount, and which end with it: $1 is bound to $2, the rest is run.
BIND = 'mount --make-rprivate / && mount --bind "$1" "$2" && shift 2 && exec "$@"'


class SecondNames(Place):
    def setUp(self) -> None:
        super().setUp()
        self.alias = self.dir / "alias"
        self.alias.mkdir()
        (self.repo / "src").mkdir()

    def bound(self, source, target, argv: list[str]) -> subprocess.CompletedProcess:
        return self.run_it(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", BIND, "sh", str(source),
                            str(target), *argv])

    def call(self, *options: str, touch) -> list[str]:
        return [SALLYPORT, "run", "--json", "--no-audit", "--policy", str(self.policy), *options, "--", "sh", "-c",
                f'echo x > "{touch}"']

    def assert_refused(self, done: subprocess.CompletedProcess) -> None:
        record = json.loads(done.stdout)
        self.assertEqual(record["schema"], "sallyport.error/1", done.stdout)
        self.assertIn(b"second name", done.stdout)

    def guarantees(self, done: subprocess.CompletedProcess) -> set[str]:
        return {one["name"] for one in json.loads(done.stdout)["receipt"]["guarantees"]}

    def test_a_writable_path_with_one_name_works(self) -> None:  # positive control of all below
        other = self.dir / "other"
        other.mkdir()
        done = self.bound(other, self.alias, self.call("--rw", str(self.alias), touch=self.alias / "new"))
        self.assertIn("fs.repo_untouched", self.guarantees(done))
        self.assertTrue((other / "new").exists())

    def test_the_repo_is_not_written_by_another_name(self) -> None:
        done = self.bound(self.repo, self.alias, self.call("--rw", str(self.alias), touch=self.alias / "new"))
        self.assert_refused(done)
        self.assertFalse((self.repo / "new").exists())

    def test_nor_a_part_of_it(self) -> None:
        done = self.bound(self.repo / "src", self.alias, self.call("--rw", str(self.alias), touch=self.alias / "new"))
        self.assert_refused(done)
        self.assertFalse((self.repo / "src/new").exists())

    def test_nor_from_a_mount_below_the_writable_path(self) -> None:
        outer = self.dir / "outer"
        (outer / "deep").mkdir(parents=True)
        done = self.bound(self.repo, outer / "deep", self.call("--rw", str(outer), touch=outer / "deep/new"))
        self.assert_refused(done)
        self.assertFalse((self.repo / "new").exists())

    def test_nor_what_is_mounted_inside_it(self) -> None:
        done = self.bound(self.alias, self.repo / "src", self.call("--rw", str(self.alias), touch=self.alias / "new"))
        self.assert_refused(done)
        self.assertFalse((self.alias / "new").exists())

    def test_a_read_only_path_is_not_written_by_another_name(self) -> None:
        kept = self.dir / "kept"
        kept.mkdir()
        done = self.bound(kept, self.alias,
                          self.call("--ro", str(kept), "--rw", str(self.alias), touch=self.alias / "new"))
        self.assert_refused(done)
        self.assertFalse((kept / "new").exists())

    def test_the_system_is_not_written_by_another_name(self) -> None:
        done = self.bound("/etc", self.alias, self.call("--rw", str(self.alias), touch=self.alias / "new"))
        self.assert_refused(done)

    def test_a_hidden_path_is_not_shown_by_another_name(self) -> None:
        secret = self.repo / "secret"
        secret.mkdir()
        done = self.bound(secret, self.alias, self.call("--hide", str(secret), "--ro", str(self.alias), touch="/tmp/x"))
        self.assert_refused(done)

    def test_a_home_is_not_shown_by_another_name(self) -> None:
        done = self.bound(self.home, self.alias, self.call("--ro", str(self.alias), touch="/tmp/x"))
        self.assert_refused(done)

    def test_a_log_in_the_repo_by_another_name_is_refused(self) -> None:
        call = [SALLYPORT, "run", "--json", "--audit", str(self.alias / "log"), "--policy", str(self.policy), "--", "echo"]
        control = self.bound(self.home, self.alias, call)
        self.assertEqual(json.loads(control.stdout)["outcome"], "completed", control.stdout)
        self.assertTrue((self.home / "log").exists())
        done = self.bound(self.repo, self.alias, call)
        self.assertIn(b"lies in the analysed repo", done.stdout)
        self.assertFalse((self.repo / "log").exists())


if __name__ == "__main__":
    main()
