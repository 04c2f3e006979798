"""Runs a check the way ctest does, over small trees made for one test."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent


class CheckTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sallyport-selftest-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def run_check(self, tool, *arguments):
        return subprocess.run([sys.executable, "-B", TOOLS / tool, *map(str, arguments)], capture_output=True, text=True)

    def assert_passes(self, result):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def assert_fails(self, result, *expected):
        self.assertNotEqual(result.returncode, 0, "the check passed: " + result.stdout)
        self.assertNotIn("Traceback", result.stderr)
        for text in expected:
            self.assertIn(text, result.stdout + result.stderr)
