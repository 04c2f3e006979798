"""The check on names of the host fails when it should."""

import unittest

from common import CheckTest


class CheckHostNamesTest(CheckTest):
    def check(self):
        return self.run_check("check_host_names.py", self.root)

    def test_a_place_of_the_tests_own_passes(self):
        self.write("tests/audit/records_test.py", 'folder = self.dir / "nowhere"\n')
        self.write("tests/golden/expected/passwd.txt", "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n")
        self.write("src/core/view/fs_view.cc", '"nobody:x:65534:65534:nobody:/nonexistent"\n')
        self.write("src/locate/cache_test.cc", 'HashCache cache("/proc/nonexistent/cache");\n')
        self.assert_passes(self.check())

    def test_a_test_that_names_it_fails_with_its_line(self):
        self.write("tests/audit/records_test.py", '\nfolder = "/nonexistent"\n')
        self.write("src/locate/cache_test.cc", 'HashCache cache("/nonexistent-cache");\n')
        self.assert_fails(self.check(), "tests/audit/records_test.py:2:", "src/locate/cache_test.cc:1:")

    def test_a_tree_without_tests_is_not_a_pass(self):
        self.assert_fails(self.check(), "no tests")


if __name__ == "__main__":
    unittest.main()
