"""A place of its own for each test: a repo, a home, a policy, and the program under test."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from somebody import free_id  # noqa: E402

PLAIN_ID = free_id()
SALLYPORT = os.environ["SALLYPORT_BINARY"]
JAILS = [jail for jail in ("native", "bwrap", "none") if jail != "bwrap" or shutil.which("bwrap")]


def policy_of(*tools: str, extra: str = "") -> str:
    text = 'schema = "sallyport.policy/1"\n'
    for tool in tools:
        text += f'[[tool]]\nname = "{tool}"\ndecision_record = "tests"\nreason = "a test"\n{extra}'
    return text


class Place(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="sallyport-bounds-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.repo = self.dir / "repo"
        self.home = self.dir / "home"
        self.repo.mkdir()
        self.home.mkdir(mode=0o700)
        self.policy = self.dir / "policy.toml"
        self.policy.write_text(policy_of("python3", "cat", "sh", "sleep", "echo"))
        self.policy.chmod(0o600)
        self.env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(self.home)}

    def argv(self, tool: list[str], *options: str, jail: str = "native") -> list[str]:
        return [SALLYPORT, "run", "--jail", jail, "--policy", str(self.policy), *options, "--", *tool]

    def start(self, argv: list[str], **how) -> subprocess.Popen:
        how.setdefault("env", self.env)
        how.setdefault("stdin", subprocess.DEVNULL)
        process = subprocess.Popen(argv, cwd=self.repo, **how)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process: subprocess.Popen) -> None:
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()

    def run_it(self, argv: list[str], **how) -> subprocess.CompletedProcess:
        how.setdefault("env", self.env)
        return subprocess.run(argv, cwd=self.repo, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, **how)

    def record(self, argv: list[str], **how) -> dict:
        done = self.run_it(argv, **how)
        return json.loads(done.stdout)


def processes_with(marker: str) -> list[int]:
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            command = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes()
        except OSError:
            continue
        if marker.encode() in command:
            found.append(int(entry))
    return found


def main() -> None:
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]], verbosity=2)
