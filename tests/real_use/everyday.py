"""What people did in their first hour and the gate broke (issue 16): each test does what the user did.

  usage: everyday_tools.py, everyday_jail.py --sallyport FILE [unittest arguments]

Every relaxation has, beside it, what must stay refused.
"""

import os
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from somebody import free_id  # noqa: E402,F401

SALLYPORT = None
IDENTITY = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@use.test", "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@use.test"}


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


class Everyday(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="everyday-")
        self.addCleanup(self.temporary.cleanup)
        self.root = Path(self.temporary.name).resolve()
        self.home = self.root / "home"
        self.repo = self.root / "repo"
        self.bin = self.home / "bin"
        for place in (self.home, self.repo, self.bin):
            place.mkdir()
        self.path = f"{self.bin}:/usr/local/bin:/usr/bin:/bin"

    def env(self):
        return {"PATH": self.path, "HOME": str(self.home), "LANG": "C.UTF-8"}

    def bare(self, *argv, cwd=None, check=True):
        return subprocess.run([str(word) for word in argv], cwd=cwd or self.repo, env=self.env() | IDENTITY,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=check)

    def sallyport(self, *words, cwd=None):
        return subprocess.run([str(SALLYPORT), *[str(word) for word in words]], cwd=cwd or self.repo, env=self.env(),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)

    def run_tool(self, *tool, options=(), jail="native", cwd=None):
        return self.sallyport("run", "--jail", jail, "--repo", self.repo, *options, "--", *tool, cwd=cwd)

    def policy(self, *names):
        file = self.root / "policy.toml"
        made = self.sallyport("allowlist", "init", *names)
        self.assertEqual(made.returncode, 0, made.stderr)
        file.write_text(made.stdout, encoding="utf-8")
        return "--policy", file

    def git_repo(self):
        self.bare("git", "init", "-q", "-b", "main")
        (self.repo / "sub").mkdir()
        (self.repo / "sub" / "f.txt").write_text("one --help\ntwo --exec\n", encoding="utf-8")
        self.bare("git", "add", "-A")
        self.bare("git", "commit", "-qm", "first --help")
        (self.repo / "sub" / "f.txt").write_text("one --help\nthree\n", encoding="utf-8")
        self.bare("git", "commit", "-qam", "second")

    def same_as_bare(self, *argv, **how):
        bare = self.bare(*argv, check=False)
        for jail in ("native", "none"):
            ran = self.run_tool(*argv, jail=jail, **how)
            self.assertEqual((ran.returncode, ran.stdout), (bare.returncode, bare.stdout), (argv, jail, ran.stderr))
        return bare

    def refused(self, *argv, jail="native", **how):
        ran = self.run_tool(*argv, jail=jail, **how)
        self.assertEqual(ran.returncode, 125, (argv, ran.stdout, ran.stderr))
        self.assertIn("hint: ", ran.stderr)
        return ran.stderr


def main():
    """The tests of the calling script: --sallyport FILE, then unittest's own arguments."""
    global SALLYPORT
    at = sys.argv.index("--sallyport")
    SALLYPORT = Path(sys.argv[at + 1]).resolve()
    del sys.argv[at:at + 2]
    os.umask(stat.S_IWGRP | stat.S_IWOTH)
    unittest.main(module="__main__")
