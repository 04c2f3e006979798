"""What reaches a terminal or a build service's log holds no commands to it."""
import json
import os
import pty
import subprocess

from common import Place, main

COMMANDS = b"::set-output name=a::b\n  ::error::x\nx\r::add-mask::y\ntext ##[error]z\n##vso[task.complete]\n"


class BuildLog(Place):
    def printed(self, *options: str, **variables: str) -> subprocess.CompletedProcess:
        code = f"import os\nfor fd in (1, 2):\n  for b in {COMMANDS!r}: os.write(fd, bytes([b]))\n"
        return self.run_it(self.argv(["python3", "-c", code], *options), env={**self.env, **variables})

    def test_is_given_no_commands(self) -> None:
        done = self.printed()
        self.assertEqual((done.stdout, done.stderr), (COMMANDS, COMMANDS))  # positive control: elsewhere all bytes pass
        for variable in ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"):
            done = self.printed(**{variable: "true"})
            for text in (done.stdout, done.stderr):
                self.assertNotIn(b"##[", text)
                self.assertNotIn(b"##vso[", text)
                for line in text.replace(b"\r", b"\n").split(b"\n"):
                    self.assertFalse(line.strip().startswith(b"::"), line)
                self.assertIn(b"set-output name=a::b", text)

    def test_record_reads_the_same(self) -> None:
        plain = json.loads(self.printed("--json").stdout)
        done = self.printed("--json", GITHUB_ACTIONS="true")
        self.assertNotIn(b"##", done.stdout)
        self.assertEqual(json.loads(done.stdout)["stdout"], plain["stdout"])

    def test_our_own_messages_hold_none_either(self) -> None:
        argv = self.argv(["##[error]evil"])
        self.assertIn(b"##[error]", self.run_it(argv).stderr)  # positive control
        self.assertNotIn(b"##[", self.run_it(argv, env={**self.env, "GITHUB_ACTIONS": "true"}).stderr)


class Terminal(Place):
    def shown(self, text: bytes, *options: str, then: str = "") -> bytes:
        master, slave = pty.openpty()
        code = f"import os, time\nos.write(2, {text!r})\n{then}"
        process = self.start(self.argv(["python3", "-c", code], *options), stdout=slave, stderr=slave)
        os.close(slave)
        seen = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        os.close(master)
        process.wait(60)
        return seen

    def test_never_gets_hidden_or_reordered_text(self) -> None:
        seen = self.shown("a\x1b[8mb\x1b[30;40mc\u202ed\u2066e\x1b[31mf".encode())
        self.assertNotIn(b"\x1b[8m", seen)
        self.assertNotIn(b"40", seen)
        self.assertNotIn("\u202e".encode(), seen)
        self.assertNotIn("\u2066".encode(), seen)
        self.assertIn(b"\x1b[31mf", seen)  # positive control: colours pass

    def test_shows_our_lines_plain_and_on_lines_of_their_own(self) -> None:
        seen = self.shown(b"\x1b[31mno end of line", "--timeout", "1s", then="time.sleep(60)")
        self.assertIn(b"\x1b[0msallyport: timed out", seen)
        line = seen[: seen.index(b"sallyport: timed out")].split(b"\n")[-1]
        self.assertEqual(line, b"\x1b[0m")


if __name__ == "__main__":
    main()
