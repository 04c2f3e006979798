"""A room for each test of validate: a repo, a home, one registry for all of them."""

import argparse
import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import registry

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from somebody import free_id  # noqa: E402

OPTIONS = argparse.Namespace()
SHARED = argparse.Namespace(registry=None)
API_NAME = r"`[A-Za-z_][\w:.-]*`"  # how the library names its API; the CLI says its options (ADR 0072)
SOMEBODY = free_id()


def snapshot(root):
    """Path -> all that a stat and a read show of it, except access times."""
    found = {}
    for folder, folders, names in os.walk(root):
        for name in [".", *folders, *names]:
            path = os.path.join(folder, name)
            info = os.lstat(path)
            content = ""
            if stat.S_ISREG(info.st_mode):
                content = hashlib.sha256(Path(path).read_bytes()).hexdigest()
            elif stat.S_ISLNK(info.st_mode):
                content = os.readlink(path)
            found[os.path.relpath(path, root)] = (info.st_mode, info.st_uid, info.st_mtime_ns, info.st_nlink, content)
    return found


class ValidateTest(unittest.TestCase):
    user = None  # a number: as this plain user

    def setUp(self):
        self.room = tempfile.TemporaryDirectory(prefix="sallyport-validate-")
        self.addCleanup(self.room.cleanup)
        self.base = Path(self.room.name).resolve()
        self.base.chmod(0o755)
        self.repo, self.home = self.base / "repo", self.base / "home"
        for directory in (self.repo, self.home):
            directory.mkdir()
        self.registry = SHARED.registry

    def write(self, path, content, root=None):
        path = (root or self.repo) / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2) + "\n", encoding="utf-8")
        return path

    def package(self, root=None, **fields):
        self.write("package.json", {"name": "theirs", "version": "1.0.0"} | fields, root)

    def lock(self, packages, **root_fields):
        """A lock file of version 3; `packages` by their path below node_modules."""
        entries = {"": {"name": "theirs", "version": "1.0.0"} | root_fields}
        entries |= {f"node_modules/{name}": entry for name, entry in packages.items()}
        self.write("package-lock.json", {"name": "theirs", "version": "1.0.0", "lockfileVersion": 3, "requires": True,
                                         "packages": entries})

    def depend_on(self, *names, scripts=None, **fields):
        """package.json and its lock file for published packages."""
        wants = {name: "1.0.0" for name in names}
        self.package(dependencies=wants, scripts=scripts or {"test": "true"}, **fields)
        self.lock({name: self.registry.locked(name) for name in names}, dependencies=wants)

    def environment(self):
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8", "XDG_STATE_HOME": str(self.home / "state"),
                "SALLYPORT_TEST_TOKEN": "token-of-the-caller", "npm_config_update_notifier": "false"}

    def command(self, *args, target=None):
        return [OPTIONS.sallyport, "validate", str(self.repo), "--registry",
                f"http://{registry.NAME}={target or self.registry.target}", *map(str, args)]

    def as_user(self):
        return {"user": self.user, "group": self.user, "extra_groups": []} if self.user is not None else {}

    def give_away(self):
        if self.user is None:
            return
        for folder, folders, names in os.walk(self.base):
            for path in [folder, *(os.path.join(folder, name) for name in [*folders, *names])]:
                os.lchown(path, self.user, self.user)

    def validate(self, *args, target=None):
        """The record; the repo must be what it was."""
        self.give_away()
        before = snapshot(self.repo)
        done = subprocess.run(self.command("--json", *args, target=target), cwd=self.base, env=self.environment(),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, check=False, **self.as_user())
        self.assertEqual(snapshot(self.repo), before, "the repo was touched")
        self.assertIn(done.returncode, (0, 1, 2), done.stderr)
        self.assertNotRegex(done.stdout + done.stderr, API_NAME)
        record = json.loads(done.stdout)
        self.assertEqual(record["exit_code"], done.returncode)
        self.assert_nothing_left()
        return record

    def said(self, *args):
        """What it writes to stderr for a person."""
        self.give_away()
        done = subprocess.run(self.command(*args), cwd=self.base, env=self.environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=240, check=False, **self.as_user())
        self.assertIn(done.returncode, (0, 1, 2), done.stderr)
        self.assertNotRegex(done.stdout + done.stderr, API_NAME)
        return done.stderr

    def assert_nothing_left(self):
        state = self.home / "state/sallyport/workspaces"
        left = [name for name in os.listdir(state)] if state.exists() else []
        self.assertEqual([name for name in left if (state / name).is_dir()], [], "a workspace is left")
        unfinished = self.home / ".cache/sallyport/npm/unfinished"
        self.assertEqual(os.listdir(unfinished) if unfinished.exists() else [], [])

    def bare(self, *argv, repo=None, **extra_env):
        """The same in a copy of the repo, as a careless user does it: the positive control."""
        copy = self.base / "bare"
        if repo is None:
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(self.repo, copy, symlinks=True)
        home = self.home
        return subprocess.run([*argv], cwd=repo or copy, env=self.environment() | {"HOME": str(home)} | extra_env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)

    def bare_npm(self, *words, repo=None):
        return self.bare("npm", *words, "--no-audit", "--no-fund", f"--registry=http://{self.registry.target}/",
                         "--replace-registry-host=always", f"--cache={self.base / 'bare-cache'}", repo=repo)

    def stage(self, record, name):
        return next(stage for stage in record["stages"] if stage["name"] == name)

    def rules(self, record):
        return {finding["rule"] for stage in record["stages"] for finding in stage["findings"]}

    def cache_files(self):
        root = self.home / ".cache/sallyport/npm/_cacache/content-v2/sha512"
        return [path for path in root.rglob("*") if path.is_file()] if root.exists() else []

    def is_cached(self, name):
        digest = hashlib.sha512(self.registry.tarballs[name]).hexdigest()
        return any("".join(path.parts[-3:]) == digest for path in self.cache_files())

    def assert_cache_is_sound(self):
        root = self.home / ".cache/sallyport/npm/_cacache/content-v2/sha512"
        for path in self.cache_files():
            digest = "".join(path.relative_to(root).parts)
            self.assertEqual(hashlib.sha512(path.read_bytes()).hexdigest(), digest, path)


def main(module, publish):
    parser = argparse.ArgumentParser()
    parser.add_argument("--sallyport", required=True)
    parser.add_argument("--npm", required=True)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("names", nargs="*")
    parser.parse_args(namespace=OPTIONS)
    if shutil.which("npm") is None:
        print("skipped: not installed: npm")
        return 77
    SHARED.registry = registry.Verdaccio(OPTIONS.npm)
    try:
        publish(SHARED.registry)
        loader = unittest.defaultTestLoader
        suite = loader.loadTestsFromNames(OPTIONS.names, module) if OPTIONS.names else loader.loadTestsFromModule(module)
        return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1
    finally:
        SHARED.registry.stop()
