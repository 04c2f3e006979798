"""What a tool prints, or makes happen, does not bloat the CLI (C35): the bounds are stated in docs/threat-model.md."""
import base64
import json
import sys

from common import Place, main

MEBIBYTE = 1 << 20


class Memory(Place):
    def measured(self, argv: list[str]) -> tuple[dict, int]:
        """The record, and the CLI's own peak of memory in bytes."""
        # A process between: a child starts with the peak of the process it was forked from, and this one's is large.
        code = ("import resource, subprocess, sys\nstatus = subprocess.run(sys.argv[1:]).returncode\n"
                "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)\nsys.exit(status)\n")
        done = self.run_it([sys.executable, "-c", code, *argv])
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), int(done.stderr.split()[-1]) * 1024

    def test_of_a_record_is_bounded_whatever_the_tool_prints(self) -> None:
        # Each control byte is six bytes in JSON: 64 MiB on each stream took 1.5 GiB.
        code = "import os\nfor fd in (1, 2):\n  for _ in range(24): os.write(fd, b'\\x01' * 1048576)\n"
        record, peak = self.measured(self.argv(["python3", "-c", code], "--json", "--timeout", "120s", "--max-output", "24M"))
        self.assertGreater(peak, 2 * 24 * MEBIBYTE)  # positive control: it is measured
        self.assertLess(peak, (2 * 24 + 32) * MEBIBYTE)
        self.assertEqual(record["encoding"], {"stdout": "base64", "stderr": "base64"})
        self.assertEqual(base64.b64decode(record["stdout"]), b"\x01" * 24 * MEBIBYTE)

    def test_text_stays_text(self) -> None:
        code = "print('line \"quoted\"\\t\\\\' * 3000)"
        record, _ = self.measured(self.argv(["python3", "-c", code], "--json"))
        self.assertEqual(record["encoding"]["stdout"], "utf-8")
        self.assertEqual(record["stdout"], 'line "quoted"\t\\' * 3000 + "\n")

    def test_of_events_is_bounded_however_often_a_tool_connects(self) -> None:
        code = ("import socket, time\nend = time.time() + 3\nn = 0\nwhile time.time() < end:\n  try:\n"
                "    s = socket.create_connection(('closed.test', 8080), 2); s.sendall(b'x'); s.recv(1); s.close()\n"
                "  except OSError: pass\n  n += 1\nprint(n)\n")
        record, peak = self.measured(self.argv(["python3", "-c", code], "--json", "--allow-host",
                                               "closed.test:8080=127.0.0.1:1"))
        self.assertGreater(int(record["stdout"]), 20, "positive control: it did connect")
        unreachable = [e for e in record["events"] if e["name"] == "subproc.egress.unreachable"]
        self.assertIn(len(unreachable), (1, 2), "the first, and one with the count at the end")
        self.assertLess(peak, 48 * MEBIBYTE)


if __name__ == "__main__":
    main()
