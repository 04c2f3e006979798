"""A place of its own for each test: a repo, a home, a log, and the program under test."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SALLYPORT = os.environ["SALLYPORT_BINARY"]
SOURCE = pathlib.Path(__file__).resolve().parents[2]


class AuditCase(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="sallyport-audit-")).resolve()
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.repo, self.home, self.state = self.dir / "repo", self.dir / "home", self.dir / "state"
        for place in (self.repo, self.home, self.state):
            place.mkdir(mode=0o700)
        self.log = self.state / "sallyport/audit"
        self.policy = self.dir / "policy.toml"
        self.write_policy()
        self.env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(self.home), "XDG_STATE_HOME": str(self.state),
                    "LANG": "C.UTF-8"}

    def write_policy(self, top: str = "") -> None:
        text = 'schema = "sallyport.policy/1"\n' + top
        for tool in ("echo", "sh", "true", "false"):
            text += f'[[tool]]\nname = "{tool}"\ndecision_record = "tests"\nreason = "a test"\n'
        self.policy.write_text(text)
        self.policy.chmod(0o600)

    def sallyport(self, *args, **how) -> subprocess.CompletedProcess:
        how.setdefault("env", self.env)
        how.setdefault("cwd", self.repo)
        how.setdefault("timeout", 120)
        return subprocess.run([SALLYPORT, *map(os.fspath, args)], stdin=subprocess.DEVNULL, capture_output=True, check=False, **how)

    def run_tool(self, *tool, options=(), **how) -> subprocess.CompletedProcess:
        return self.sallyport("run", "--jail", "none", "--policy", self.policy, "--repo", self.repo, *options, "--", *tool, **how)

    def audit(self, *args, code: int = 0, **how) -> subprocess.CompletedProcess:
        done = self.sallyport("audit", *args, **how)
        self.assertEqual(done.returncode, code, done.stderr.decode() + done.stdout.decode())
        return done

    def audit_json(self, *args, code: int = 0) -> dict:
        return json.loads(self.audit(*args, "--json", code=code).stdout)

    def lines(self, log: pathlib.Path | None = None) -> list[bytes]:
        out: list[bytes] = []
        for file in sorted((log or self.log).glob("audit-*.jsonl")):
            out += file.read_bytes().splitlines()
        return out

    def records(self, log: pathlib.Path | None = None) -> list[dict]:
        return [json.loads(line) for line in self.lines(log)]


def main() -> None:
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]], verbosity=2)
