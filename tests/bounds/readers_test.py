"""A reader that does not read the CLI's output cannot delay the run, its end, or Ctrl-C (C35)."""
import json
import os
import pty
import signal
import subprocess
import time

from common import Place, main

PATIENCE = 60  # of these tests; what they wait for takes seconds
FLOOD = "import os\nwhile True: os.write({fd}, b'x' * 4096)"


class ReaderWhoNeverReads(Place):
    def flood(self, fd: int) -> list[str]:
        return ["python3", "-c", FLOOD.format(fd=fd)]

    def test_of_stdout_or_stderr_does_not_hold_up_the_deadline(self) -> None:
        for fd in (1, 2):
            with self.subTest(fd=fd):
                process = self.start(self.argv(self.flood(fd), "--timeout", "1s"), stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE)
                self.assertEqual(process.wait(PATIENCE), 124)

    def test_of_a_terminal_does_not_hold_up_the_deadline(self) -> None:
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        process = self.start(self.argv(self.flood(1), "--timeout", "1s"), stdout=slave, stderr=slave)
        os.close(slave)
        self.assertEqual(process.wait(PATIENCE), 124)

    def test_of_stderr_does_not_hold_up_egress_and_the_run_ends_by_itself(self) -> None:
        # A thousand different refusals are reported on stderr, more than a pipe takes.
        code = ("import socket\nfor i in range(900):\n  try: socket.getaddrinfo('a-name-no-rule-allows-%d.test' % i, 80)\n"
                "  except OSError: pass\n")
        process = self.start(self.argv(["python3", "-c", code], "--timeout", "60s", "--allow-host", "allowed.test"),
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assertIn(b"denied a-name-no-rule-allows-0.test", process.stderr.read())

    def test_of_stderr_does_not_hold_up_ctrl_c(self) -> None:
        process = self.start(self.argv(self.flood(2), "--timeout", "10m"), stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), 130)

    def test_of_a_record_is_given_up_on_and_told_by_the_exit_code(self) -> None:
        process = self.start(self.argv(["python3", "-c", "print('x' * 1000000)"], "--json"), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        self.assertEqual(process.wait(PATIENCE), 125)
        self.assertIn(b"cannot write stdout", process.stderr.read())

    def test_of_a_record_does_not_hold_up_ctrl_c(self) -> None:
        process = self.start(self.argv(["python3", "-c", "print('x' * 1000000)"], "--json"), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        time.sleep(2)  # long enough for the run itself
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), 130)


class SlowReader(Place):
    def read_slowly(self, process: subprocess.Popen) -> bytes:
        read = b""
        while piece := os.read(process.stdout.fileno(), 65536):
            read += piece
            time.sleep(0.005)
        return read

    def test_gets_every_byte_of_a_record(self) -> None:
        process = self.start(self.argv(["python3", "-c", "print('x' * 8000000)"], "--json"), stdout=subprocess.PIPE)
        record = json.loads(self.read_slowly(process))
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assertEqual(len(record["stdout"]), 8000001)

    def test_gets_every_byte_of_the_output(self) -> None:
        process = self.start(self.argv(["python3", "-c", "print('x' * 8000000)"], "--timeout", "60s"),
                             stdout=subprocess.PIPE)
        self.assertEqual(len(self.read_slowly(process)), 8000001)
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_leaves_shared_descriptors_blocking(self) -> None:
        reader, writer = os.pipe()
        done = subprocess.run(self.argv(["echo", "hello"]), cwd=self.repo, env=self.env, stdout=writer, stderr=writer)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(os.get_blocking(writer))
        self.assertEqual(os.read(reader, 100), b"hello\n")
        os.close(reader)
        os.close(writer)


if __name__ == "__main__":
    main()
