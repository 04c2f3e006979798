"""Files that the gate trusts: the cache of hashes and the policy. A repo, a tool or another user must not supply
them."""
import os
import pathlib
import shutil

from common import Place, main, policy_of

WRONG = "0" * 64


class PlantedHashes(Place):
    """The policy pins a hash that the tool's file does not have; a planted cache says that it has."""

    def setUp(self) -> None:
        super().setUp()
        self.policy.write_text(policy_of("cat", extra=f'sha256 = "{WRONG}"\n'))
        tool = os.stat(os.path.realpath(shutil.which("cat", path=self.env["PATH"])))
        self.planted = (f"{tool.st_dev} {tool.st_ino} {tool.st_size} {tool.st_mtime_ns} {tool.st_ctime_ns} {WRONG}\n")

    def plant(self, cache_home: pathlib.Path) -> pathlib.Path:
        directory = cache_home / "sallyport"
        directory.mkdir(mode=0o700, parents=True)
        file = directory / "hashes.v1"
        file.write_text(self.planted)
        file.chmod(0o600)
        return file

    def believed(self, *options: str) -> bool:
        return self.run_it(self.argv(["cat", "/dev/null"], *options, jail="none" if not options else "native")).returncode == 0

    def test_in_a_place_of_the_callers_own_are_believed(self) -> None:  # positive control of the tests below
        self.plant(self.dir / "cache")
        self.env["XDG_CACHE_HOME"] = str(self.dir / "cache")
        self.assertTrue(self.believed())

    def test_inside_the_repo_are_not_believed(self) -> None:
        for place in (self.repo / "cache", self.repo / "a/b/.cache"):
            file = self.plant(place)
            before = file.stat()
            self.env["XDG_CACHE_HOME"] = str(place)
            self.assertFalse(self.believed())
            self.assertEqual(file.stat(), before)

    def test_behind_a_symlink_into_the_repo_are_not_believed(self) -> None:
        self.plant(self.repo / "cache")
        (self.dir / "innocent").symlink_to(self.repo / "cache")
        self.env["XDG_CACHE_HOME"] = str(self.dir / "innocent")
        self.assertFalse(self.believed())

    def test_below_a_writable_path_are_not_believed_now_or_later(self) -> None:
        file = self.plant(self.dir / "cache")
        self.env["XDG_CACHE_HOME"] = str(self.dir / "cache")
        for writable in (self.dir / "cache", self.dir / "cache/sallyport", file):
            if not file.exists():
                shutil.rmtree(self.dir / "cache")
                self.plant(self.dir / "cache")
            self.assertFalse(self.believed("--rw", str(writable)))

    def test_left_by_a_run_are_removed_after_it(self) -> None:
        cache = self.dir / "cache"
        (cache / "sallyport").mkdir(mode=0o700, parents=True)
        self.env["XDG_CACHE_HOME"] = str(cache)
        self.policy.write_text(policy_of("python3"))
        code = (f"import os\nfd = os.open('{cache}/sallyport/hashes.v1', os.O_WRONLY | os.O_CREAT, 0o600)\n"
                f"os.write(fd, {self.planted!r}.encode())\n")
        done = self.run_it(self.argv(["python3", "-c", code], "--rw", str(cache)))
        self.assertEqual(done.returncode, 0, done.stderr)  # positive control: it could write there
        self.assertFalse((cache / "sallyport/hashes.v1").exists())

    def test_where_others_can_write_are_not_believed(self) -> None:
        self.plant(self.dir / "open")
        (self.dir / "open").chmod(0o777)
        self.env["XDG_CACHE_HOME"] = str(self.dir / "open")
        self.assertFalse(self.believed())

    def test_of_another_user_are_not_believed(self) -> None:
        if os.geteuid() != 0:
            self.skipTest("only root can give a file away")
        self.plant(self.dir / "theirs")
        os.chown(self.dir / "theirs", 65534, 65534)
        self.env["XDG_CACHE_HOME"] = str(self.dir / "theirs")
        self.assertFalse(self.believed())


class Cache(Place):
    def test_is_made_in_a_home_that_exists_only(self) -> None:
        missing = self.dir / "nonexistent"
        self.env["HOME"] = str(missing)
        self.assertEqual(self.run_it(self.argv(["echo", "x"])).returncode, 0)
        self.assertFalse(missing.exists())
        self.env["HOME"] = str(self.home)
        self.assertEqual(self.run_it(self.argv(["echo", "x"])).returncode, 0)
        self.assertTrue((self.home / ".cache/sallyport/hashes.v1").exists())  # positive control

    def test_is_not_made_at_a_missing_or_relative_cache_home(self) -> None:
        self.env["XDG_CACHE_HOME"] = str(self.dir / "nonexistent")
        self.assertEqual(self.run_it(self.argv(["echo", "x"])).returncode, 0)
        self.assertFalse((self.dir / "nonexistent").exists())
        self.env["XDG_CACHE_HOME"] = "cache"
        self.assertEqual(self.run_it(self.argv(["echo", "x"])).returncode, 0)
        self.assertEqual(list(self.repo.iterdir()), [])


class Policy(Place):
    def code_with(self, policy: pathlib.Path) -> int:
        self.policy = policy
        return self.run_it(self.argv(["echo", "x"])).returncode

    def copy_at(self, path: pathlib.Path, mode: int = 0o600) -> pathlib.Path:
        path.parent.mkdir(exist_ok=True)
        shutil.copyfile(self.policy, path)
        path.chmod(mode)
        return path

    def test_of_the_callers_own_is_used(self) -> None:  # positive control of the tests below
        self.assertEqual(self.code_with(self.policy), 0)
        link = self.dir / "link.toml"
        link.symlink_to(self.policy)
        self.assertEqual(self.code_with(link), 0)

    def test_that_others_can_write_is_refused(self) -> None:
        for mode in (0o602, 0o666):
            self.assertEqual(self.code_with(self.copy_at(self.dir / f"open{mode:o}.toml", mode)), 125)

    def test_in_a_directory_where_others_can_swap_it_is_refused(self) -> None:
        policy = self.copy_at(self.dir / "shared/policy.toml")
        (self.dir / "shared").chmod(0o777)
        self.assertEqual(self.code_with(policy), 125)

    def test_of_another_user_is_refused(self) -> None:
        if os.geteuid() != 0:
            self.skipTest("only root can give a file away")
        policy = self.copy_at(self.dir / "theirs.toml")
        os.chown(policy, 65534, 65534)
        self.assertEqual(self.code_with(policy), 125)
        inside = self.copy_at(self.dir / "their_directory/policy.toml")
        os.chown(inside.parent, 65534, 65534)
        self.assertEqual(self.code_with(inside), 125)

    def test_in_the_repo_is_refused_whatever_leads_there(self) -> None:
        inside = self.copy_at(self.repo / "policy.toml")
        self.assertEqual(self.code_with(inside), 125)
        link = self.dir / "innocent.toml"
        link.symlink_to(inside)
        self.assertEqual(self.code_with(link), 125)

    def test_that_is_no_regular_file_is_refused_and_does_not_hang(self) -> None:
        os.mkfifo(self.dir / "fifo.toml", 0o600)
        self.assertEqual(self.code_with(self.dir / "fifo.toml"), 125)


if __name__ == "__main__":
    main()
