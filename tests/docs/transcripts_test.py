"""Does what the documents' transcripts show, and compares what is printed with what they say.

A transcript is a fenced block with lines that begin with "$ ". `$ cat FILE` defines the file. Otherwise the command runs as
a reader would type it, in the example repo, and its output must match the lines below it: "…" stands for any text, a line of
its own with "…" for any lines, and times may differ.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SALLYPORT = pathlib.Path(os.environ["SALLYPORT_BINARY"])
ROOT = pathlib.Path(os.environ["SALLYPORT_SOURCE_DIR"])
DOCUMENTS = ["README.md", "docs/cli.md"]
# Where the documents say that things are, and where this test has them.
REPO, POLICY = "/srv/theirs", "/etc/tools.toml"
ANY_TIME = re.compile(r"\d+(?:\\?\.\d+)? (?:ms|s)\b")


def blocks(text: str):
    """The fenced blocks of a document, each with the number of its first line."""
    inside, start, lines = False, 0, []
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            if inside:
                yield start, lines
            inside, start, lines = not inside, number + 1, []
        elif inside:
            lines.append(line)


def calls(start: int, lines: list[str]):
    """(line, command, expected output) of one block."""
    command, expected, at = None, [], 0
    for offset, line in enumerate(lines):
        if line.startswith("$ "):
            if command is not None:
                yield at, command, expected
            command, expected, at = line[2:], [], start + offset
        elif command is not None:
            expected.append(line)
    if command is not None:
        yield at, command, expected


def pattern_of(expected: list[str]) -> re.Pattern:
    while expected and not expected[-1]:
        expected = expected[:-1]
    parts = []
    for line in expected:
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*?")
            continue
        escaped = re.escape(line).replace("…", ".*").replace(r"\ ms", " ms").replace(r"\ s", " s")
        parts.append(ANY_TIME.sub(lambda _: r"[0-9.]+ (?:ms|s)", escaped) + r"\n")
    return re.compile("".join(parts) + r"\Z")


class Transcripts(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="sallyport-docs-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.home = self.dir / "home"
        self.home.mkdir(mode=0o700)
        self.repo = self.dir / "theirs"
        self.policy = self.home / "tools.toml"
        made = self.dir / "build" / "theirs"
        made.parent.mkdir()
        subprocess.run([ROOT / "tools" / "make_example_repo.sh", made], check=True)
        made.rename(self.repo)
        self.env = {"PATH": f"{SALLYPORT.parent}:/usr/local/bin:/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8"}

    def here(self, text: str) -> str:
        return text.replace(REPO, str(self.repo)).replace(POLICY, str(self.policy))

    def define(self, name: str, lines: list[str]) -> None:
        path = pathlib.Path(self.here(name))
        path = path if path.is_absolute() else self.repo / path
        path.write_text("\n".join(lines).rstrip("\n") + "\n")
        path.chmod(0o600)

    def check(self, document: str, line: int, command: str, expected: list[str]) -> None:
        done = subprocess.run(["bash", "-c", self.here(command)], cwd=self.repo, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        printed = re.sub(r"\n+\Z", "\n", done.stdout.decode(errors="replace"))
        wanted = [self.here(one) for one in expected]
        self.assertRegex(printed, pattern_of(wanted), f"{document}:{line}: $ {command}\nprinted:\n{printed}")

    def test_every_transcript_prints_what_the_document_says(self) -> None:
        for document in DOCUMENTS:
            checked = 0
            for start, lines in blocks((ROOT / document).read_text(encoding="utf-8")):
                for line, command, expected in calls(start, lines):
                    if command.startswith("cat "):
                        self.define(command[4:].strip(), expected)
                    elif expected and any(expected):
                        with self.subTest(f"{document}:{line}"):
                            self.check(document, line, command, expected)
                            checked += 1
            self.assertGreater(checked, 3, document)  # positive control: there was something to check


class Listings(unittest.TestCase):
    def test_a_block_that_names_a_file_holds_that_file(self) -> None:
        listed = 0
        for document in sorted((ROOT / "docs").glob("*.md")):
            text = document.read_text(encoding="utf-8")
            for name, body in re.findall(r"^```\w+ (\S+/\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
                self.assertEqual(body, (ROOT / name).read_text(encoding="utf-8"), f"{document.name}: {name}")
                listed += 1
        self.assertGreater(listed, 0)


class Matching(unittest.TestCase):
    def test_a_difference_is_seen(self) -> None:
        self.assertRegex("a 3.5 ms\nx\ny\nb\n", pattern_of(["a 303.0 ms", "…", "b", ""]))
        self.assertRegex("hint: abc\n", pattern_of(["hint: …"]))
        self.assertNotRegex("a\nc\n", pattern_of(["a", "b"]))
        self.assertNotRegex("a\nb\nc\n", pattern_of(["a", "b"]))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]], verbosity=2)
