"""Reports come from a real ctest run over a small project, so the check is tied to what ctest really writes."""

import subprocess
import unittest

from common import CheckTest

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(fixture NONE)
enable_testing()
add_test(NAME Good.Passes COMMAND ${CMAKE_COMMAND} -E true)
"""
SKIPPING = """add_test(NAME Jail.NeedsCgroup COMMAND ${CMAKE_COMMAND} -E echo "[  SKIPPED ] no cgroup")
set_tests_properties(Jail.NeedsCgroup PROPERTIES SKIP_REGULAR_EXPRESSION "\\\\[  SKIPPED \\\\]")
"""
SKIP_CODE = """add_test(NAME Jail.NeedsCgroup COMMAND ${CMAKE_COMMAND} -E false)
set_tests_properties(Jail.NeedsCgroup PROPERTIES SKIP_RETURN_CODE 1)
"""
DISABLED = """add_test(NAME Bad.Off COMMAND ${CMAKE_COMMAND} -E true)
set_tests_properties(Bad.Off PROPERTIES DISABLED ON)
"""


class CheckSkipsTest(CheckTest):
    def check(self, tests, allowed="", who="root"):
        self.write("CMakeLists.txt", PROJECT + tests)
        build = self.root / "build"
        subprocess.run(["cmake", "-S", self.root, "-B", build], check=True, capture_output=True)
        subprocess.run(["ctest", "--test-dir", build, "--output-junit", "junit.xml"], capture_output=True)
        list_file = self.write("allowed.txt", allowed)
        return self.run_check("check_skips.py", "--allowed", list_file, "--as", who, build / "junit.xml")

    def test_passing_tests_pass_and_are_counted(self):
        result = self.check("")
        self.assert_passes(result)
        self.assertEqual(result.stdout, "1 passed, 0 failed, 0 skipped\n")

    def test_a_skip_that_is_not_on_the_list_fails(self):
        self.assert_fails(self.check(SKIPPING), "Jail.NeedsCgroup was skipped", "1 passed, 0 failed, 1 skipped")
        self.assert_fails(self.check(SKIP_CODE), "Jail.NeedsCgroup was skipped", "1 passed, 0 failed, 1 skipped")

    def test_a_skip_on_the_list_passes(self):
        self.assert_passes(self.check(SKIPPING, "Jail.Needs*  # the host decides\n"))

    def test_a_skip_for_plain_users_is_none_for_root(self):
        allowed = "Jail.NeedsCgroup user  # only root can make one\n"
        self.assert_passes(self.check(SKIPPING, allowed, who="user"))
        self.assert_fails(self.check(SKIPPING, allowed), "Jail.NeedsCgroup was skipped")
        self.assert_fails(self.check(SKIPPING, "Jail.NeedsCgroup sometimes  # hm\n"), "no condition")

    def test_an_allowed_skip_without_a_reason_fails(self):
        self.assert_fails(self.check(SKIPPING, "Jail.Needs*\n"), "without a reason")

    def test_a_disabled_test_counts_as_skipped(self):
        self.assert_fails(self.check(DISABLED), "Bad.Off was skipped")

    def test_a_failed_test_fails(self):
        self.assert_fails(self.check("add_test(NAME Bad COMMAND ${CMAKE_COMMAND} -E false)\n"), "Bad failed",
                          "1 passed, 1 failed, 0 skipped")

    def test_a_test_whose_program_is_missing_counts_as_failed(self):
        self.assert_fails(self.check("add_test(NAME Bad COMMAND no-such-program)\n", "*  # all\n"), "Bad failed")

    def test_a_run_without_tests_or_report_is_not_a_pass(self):
        empty = self.write("empty.xml", "<testsuite/>")
        self.assert_fails(self.run_check("check_skips.py", empty), "no test was run")
        self.assert_fails(self.run_check("check_skips.py", self.root / "none.xml"), "none.xml")


if __name__ == "__main__":
    unittest.main()
