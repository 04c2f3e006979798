"""A room for each test of a job: a repo, a home, a search path with tools of the test's own."""

import argparse
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import standins

OPTIONS = argparse.Namespace()
# How the library names its API; the CLI says its options (ADR 0072). Not a file of the repo, which scip names so: it has a dot.
API_NAME = r"`[A-Za-z_][\w:]*`"


class JobTest(unittest.TestCase):
    def setUp(self):
        self.room = tempfile.TemporaryDirectory(prefix="sallyport-jobs-")
        self.addCleanup(self.room.cleanup)
        base = Path(self.room.name).resolve()
        base.chmod(0o755)
        self.repo, self.tools, self.home = base / "repo", base / "tools", base / "home"
        for directory in (self.repo, self.tools, self.home):
            directory.mkdir()
        self.path = [self.tools, "/usr/bin", "/bin"]

    def with_real_tools(self):
        npm = Path(OPTIONS.npm)
        self.path = [self.tools, npm / "@ast-grep/cli-linux-x64-gnu", npm / ".bin", "/usr/bin", "/bin"]

    def write(self, path, content):
        path = os.path.join(os.fsencode(self.repo), path if isinstance(path, bytes) else path.encode())
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            out.write(content if isinstance(content, bytes) else content.encode())

    def tool(self, name, body):
        path = self.tools / name
        path.write_text(standins.HEAD + body, encoding="utf-8")
        path.chmod(0o755)

    def git(self, *argv):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *argv], cwd=self.repo, check=True, capture_output=True)

    def sallyport(self, *args, text=True, cwd=None):
        env = {"PATH": ":".join(map(str, self.path)), "HOME": str(self.home), "LANG": "C.UTF-8"}
        done = subprocess.run([OPTIONS.sallyport, *map(str, args)], cwd=cwd or self.repo, env=env, capture_output=True, text=text,
                              timeout=240, check=False)
        said = done.stdout + done.stderr
        self.assertNotRegex(said if text else said.decode(errors="replace"), API_NAME)
        return done

    def probe(self, name, *args):
        """The record and the exit code of one probe."""
        done = self.sallyport("probe", name, self.repo, "--json", *args)
        self.assertIn(done.returncode, (0, 1, 2), done.stderr)
        record = json.loads(done.stdout)
        return {entry["name"]: entry for entry in record["scanners"]}, done.returncode, done

    def found(self, scanner):
        return {(f["path"] if isinstance(f["path"], str) else f["path"]["base64"], f["line"], f["rule"]) for f in scanner["findings"]}


def main(suites):
    parser = argparse.ArgumentParser()
    parser.add_argument("--sallyport", required=True)
    parser.add_argument("--npm", required=True)
    parser.add_argument("--tree")
    parser.add_argument("suite")
    parser.parse_args(namespace=OPTIONS)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(suites[OPTIONS.suite])
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1
