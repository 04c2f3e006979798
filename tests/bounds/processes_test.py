"""What the caller's own state, many processes, and a stopped CLI do to a run: nothing."""
import os
import re
import signal
import subprocess
import time
import uuid

from common import JAILS, Place, main, processes_with

PATIENCE = 60


def wait_gone(marker: str) -> list[int]:
    for _ in range(200):
        left = processes_with(marker)
        if not left:
            return []
        time.sleep(0.05)
    return left


class CallersState(Place):
    def status(self, jail: str, prepare) -> dict[str, str]:
        done = subprocess.run(self.argv(["cat", "/proc/self/status"], jail=jail), cwd=self.repo, env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=prepare, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        fields = dict(re.findall(r"^(\w+):\s*(.*)$", done.stdout.decode(), re.M))
        return {name: fields[name] for name in ("Umask", "SigBlk", "SigIgn", "SigCgt")}

    @staticmethod
    def odd() -> None:
        os.umask(0o077)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM, signal.SIGCHLD, signal.SIGQUIT])
        for number in (signal.SIGHUP, signal.SIGUSR2, signal.SIGCHLD, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)

    def test_signals_are_the_same_in_every_jail_whatever_the_caller_blocks_or_ignores(self) -> None:
        seen = {}
        for jail in JAILS:
            for name, prepare in (("plain", None), ("odd", self.odd)):
                status = self.status(jail, prepare)
                seen[(jail, name)] = {key: status[key] for key in ("SigBlk", "SigIgn", "SigCgt")}
        for key, status in seen.items():
            self.assertEqual(int(status["SigBlk"], 16), 0, key)
            self.assertEqual(status, seen[("native", "plain")], key)

    def test_umask_is_the_same_in_every_jail(self) -> None:
        for prepare in (None, self.odd):
            masks = {jail: self.status(jail, prepare)["Umask"] for jail in JAILS}
            self.assertEqual(len(set(masks.values())), 1, masks)


class Deadline(Place):
    def end_of(self, code: str, jail: str) -> None:
        marker = uuid.uuid4().hex
        process = self.start(self.argv(["python3", "-c", code, marker], "--timeout", "3s", jail=jail),
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertEqual(process.wait(PATIENCE), 124)
        self.assertEqual(wait_gone(marker), [])

    def test_is_kept_with_512_processes_that_ignore_sigterm(self) -> None:
        code = ("import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                "for _ in range(512):\n  if os.fork() == 0: time.sleep(600)\ntime.sleep(600)\n")
        for jail in JAILS:
            with self.subTest(jail=jail):
                self.end_of(code, jail)

    def test_is_kept_with_200_writers(self) -> None:
        code = ("import os\nfor _ in range(200):\n  if os.fork() == 0:\n    while True: os.write(1, b'x' * 65536)\n"
                "while True: os.write(2, b'y' * 65536)\n")
        for jail in JAILS:
            with self.subTest(jail=jail):
                self.end_of(code, jail)


class StoppedCli(Place):
    def test_goes_on_when_continued_and_so_does_the_tool(self) -> None:
        for jail in JAILS:
            with self.subTest(jail=jail):
                process = self.start(self.argv(["sh", "-c", "echo started; sleep 2; echo done"], "--timeout", "60s", jail=jail),
                                     stdout=subprocess.PIPE)
                self.assertEqual(process.stdout.readline(), b"started\n")
                process.send_signal(signal.SIGTSTP)
                time.sleep(0.5)
                process.send_signal(signal.SIGCONT)
                self.assertEqual(process.stdout.read(), b"done\n")
                self.assertEqual(process.wait(PATIENCE), 0)

    def test_keeps_the_deadline_that_passed_meanwhile(self) -> None:
        for jail in JAILS:
            with self.subTest(jail=jail):
                marker = f"6{uuid.uuid4().int % 10**8:08d}"
                process = self.start(self.argv(["sleep", marker], "--timeout", "1s", jail=jail),
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(0.3)
                process.send_signal(signal.SIGSTOP)
                time.sleep(2)
                self.assertIsNone(process.poll())  # positive control: it is stopped
                process.send_signal(signal.SIGCONT)
                self.assertEqual(process.wait(PATIENCE), 124)
                self.assertEqual(wait_gone(marker), [])


if __name__ == "__main__":
    main()
