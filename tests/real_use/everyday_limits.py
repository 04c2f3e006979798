#!/usr/bin/python3
"""Memory limits of a plain user who can make no cgroup: measured, and ended by us; see everyday.py."""

import json
import os
import subprocess
import sys

import everyday
from everyday import Everyday

MIB = 1 << 20
SOMEBODY = {"user": everyday.free_id(), "group": everyday.free_id(), "extra_groups": []} if os.geteuid() == 0 else {}


class Watch(Everyday):
    def setUp(self):
        super().setUp()
        self.python = self.policy("python")
        if SOMEBODY:
            self.root.chmod(0o755)
            for path in (self.home, self.repo, self.bin):
                os.chown(path, SOMEBODY["user"], SOMEBODY["group"])

    def record(self, *tool, options=(), jail="native", policy=None):
        ran = subprocess.run([everyday.SALLYPORT, "run", "--jail", jail, "--repo", self.repo, *(policy or self.python), "--json",
                              *options, "--", *tool], cwd=self.repo, env=self.env(), stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=120, check=False, **SOMEBODY)
        return json.loads(ran.stdout), ran.returncode

    def watched(self, record):
        """True where the limit is a watch; a user with a delegated cgroup has a better one."""
        names = {one["name"]: one["mechanism"] for one in record["receipt"]["guarantees"]}
        self.assertIn(names["limit.memory"], ("watch", "cgroup.v1", "cgroup.v2"))
        return names["limit.memory"] == "watch"

    def ended(self, record, code, limit):
        self.assertEqual((record["outcome"], code), ("oom_killed", 137), record)
        if not self.watched(record):
            return
        evidence = record["evidence"]
        self.assertEqual((evidence["by"], evidence["oom_kills"], evidence["limit_bytes"]), ("watch", 0, limit), evidence)
        self.assertGreater(evidence["measured_bytes"], limit)
        warnings = [one["fields"] for one in record["events"] if one["name"] == "subproc.limit.weaker"]
        self.assertEqual([(one["guarantee"], one["mechanism"]) for one in warnings], [("limit.memory", "watch")])

    def test_a_tool_over_its_limit_is_ended(self):
        for jail in ("native", "bwrap", "none"):
            more = ("--allow-unjailed",) if jail == "none" else ()
            record, code = self.record("python3", "-c", "held = b'x' * (400 << 20)\nimport time; time.sleep(100)",
                                       options=("--memory", "100M", *more), jail=jail)
            self.ended(record, code, 100 * MIB)

    def test_each_limit_that_no_cgroup_keeps_is_warned_of(self):
        record, _ = self.record("python3", "-c", "pass", options=("--memory", "100M", "--pids", "64", "--cpu", "9s"))
        kept = {one["name"]: one["mechanism"] for one in record["receipt"]["guarantees"]}
        weaker = {(name, kept[name]) for name in ("limit.memory", "limit.pids", "limit.cpu") if not kept[name].startswith("cgroup")}
        warnings = [one["fields"] for one in record["events"] if one["name"] == "subproc.limit.weaker"]
        self.assertEqual({(one["guarantee"], one["mechanism"]) for one in warnings}, weaker, record)
        if self.watched(record):
            self.assertIn(("limit.pids", "rlimit"), weaker)

    def test_many_small_processes_are_counted_together(self):
        script = ("import os, time\nfor i in range(6):\n if os.fork() == 0:\n  held = b'x' * (40 << 20); time.sleep(100)\n"
                  "time.sleep(100)")
        record, code = self.record("python3", "-c", script, options=("--memory", "120M"))
        self.ended(record, code, 120 * MIB)

    def test_shared_memory_counts_once(self):
        """The control of the one above: as many processes, whose memory is the same."""
        script = ("import os, time\nheld = b'x' * (60 << 20)\nready = os.pipe()\nfor i in range(6):\n if os.fork() == 0:\n"
                  "  os.write(ready[1], b'!'); time.sleep(100)\ngot = 0\nwhile got < 6: got += len(os.read(ready[0], 6))\n"
                  "time.sleep(1); print('fine')")
        record, code = self.record("python3", "-c", script, options=("--memory", "150M"))
        self.assertEqual((record["outcome"], code, record.get("stdout")), ("completed", 0, "fine\n"), record)

    def test_a_mapped_memfd_counts(self):
        script = ("import os, mmap, time\nfd = os.memfd_create('x'); os.ftruncate(fd, 300 << 20)\nm = mmap.mmap(fd, 300 << 20)\n"
                  "for i in range(0, 300 << 20, 4096): m[i] = 1\ntime.sleep(100)")
        record, code = self.record("python3", "-c", script, options=("--memory", "100M"))
        self.ended(record, code, 100 * MIB)

    def test_address_space_is_not_memory(self):
        """What runtimes reserve they do not use: node, java and go died of RLIMIT_AS."""
        script = "import mmap\nm = mmap.mmap(-1, 8 << 30, flags=mmap.MAP_PRIVATE | 0x4000)  # MAP_NORESERVE\nprint('fine')"
        record, code = self.record("python3", "-c", script, options=("--memory", "100M"))
        self.assertEqual((record["outcome"], code, record.get("stdout")), ("completed", 0, "fine\n"), record)
        record, code = self.record("node", "-e", "console.log('fine')", options=("--memory", "256M"), policy=self.policy("node"))
        self.assertEqual((record["outcome"], code, record.get("stdout")), ("completed", 0, "fine\n"), record)

    def test_a_required_limit_is_no_watch(self):
        record, code = self.record("python3", "-c", "pass", options=("--memory", "100M"))
        if not self.watched(record):
            self.skipTest("this user can make a cgroup")
        refused, code = self.record("python3", "-c", "pass", options=("--memory", "100M", "--require", "limit.memory"))
        self.assertEqual(code, 125, refused)
        self.assertEqual(refused["error"]["guarantee"], "limit.memory", refused)
        self.assertNotEqual(refused["error"]["hint"], "")

    def test_how_far_it_overshoots(self):
        """Printed for docs/threat-model.md; nothing is asserted about time, only that it ends."""
        record, code = self.record("python3", "-c", "held = []\nwhile True: held.append(b'x' * (64 << 20))",
                                   options=("--memory", "256M"))
        self.ended(record, code, 256 * MIB)
        if self.watched(record):
            print(f"overshoot: {(record['evidence']['measured_bytes'] >> 20) - 256} MiB over 256 MiB when measured,"
                  f" peak of one process {record['usage']['peak_rss_bytes'] >> 20} MiB", file=sys.stderr)


if __name__ == "__main__":
    everyday.main()
