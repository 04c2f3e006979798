#!/usr/bin/python3
"""validate is cancelled and killed at random moments: the repo stays byte-identical, the cache verifies, nothing is left.

  usage: kill_test.py --sallyport PROGRAM --npm NODE_MODULES [--kills N] [TEST ...]
"""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from validate_case import OPTIONS, ValidateTest, main, snapshot
from validate_test import publish


def processes_naming(text):
    """Processes of anybody whose command line holds `text`."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in line:
            found.append(line)
    return found


class Ends(ValidateTest):
    def make(self):
        self.depend_on("dep-b", "dep-dev", scripts={"pretest": "touch in-the-test", "test": f"node -e 0 {self.base}"})

    def measure(self):
        start = time.monotonic()
        self.assertEqual(self.validate()["verdict"], "passed")
        return time.monotonic() - start

    def start(self):
        return subprocess.Popen(self.command("--json"), cwd=self.base, env=self.environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def await_no_process(self):
        deadline = time.monotonic() + 20
        while processes_naming(str(self.base)) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual(processes_naming(str(self.base)), [])

    def test_leaves_nothing_when_it_is_cancelled_at_any_stage_C10(self):
        self.make()
        whole = self.measure()
        before = snapshot(self.repo)
        for part in (0.1, 0.35, 0.6, 0.85):
            running = self.start()
            time.sleep(part * whole)
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=60)
            self.assertIn(running.returncode, (0, 2, 130), err)
            if running.returncode == 2:
                self.assertEqual(json.loads(out).get("verdict", "incomplete"), "incomplete", out)
            self.await_no_process()
            self.assert_nothing_left()
            self.assertEqual(snapshot(self.repo), before)
            self.assert_cache_is_sound()

    def test_keeps_repo_and_cache_whole_when_it_is_killed_at_random_moments_C37(self):
        self.make()
        whole = self.measure()
        before = snapshot(self.repo)
        generator = random.Random(17)
        killed = 0
        for turn in range(OPTIONS.kills):
            if turn % 3 == 0:
                for path in self.cache_files():
                    path.unlink()
            running = self.start()
            time.sleep(generator.uniform(0, 1.1 * whole))
            running.kill()
            running.communicate(timeout=60)
            killed += running.returncode == -signal.SIGKILL
            self.assertEqual(snapshot(self.repo), before, f"turn {turn}")
            self.assert_cache_is_sound()
            if turn % 50 == 49:
                print(f"{turn + 1} of {OPTIONS.kills}, {killed} killed, whole runs of {whole:.1f} s", file=sys.stderr, flush=True)
        self.assertGreater(killed, OPTIONS.kills // 3, "the control: most of them were still running")
        self.await_no_process()
        # The next start removes what the killed ones have left, and works.
        self.assertEqual(self.validate()["verdict"], "passed")


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__], publish))
