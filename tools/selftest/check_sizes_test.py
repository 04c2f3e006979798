"""The check on sizes fails when it should."""

import unittest

from common import CheckTest


class CheckSizesTest(CheckTest):
    def check(self):
        return self.run_check("check_sizes.py", self.root)

    def test_files_up_to_the_limit_pass(self):
        self.write("src/core/long.cc", "x\n" * 350)
        self.write("docs/long.md", "x\n" * 1000)
        self.write("tests/golden/any.txt", "x\n" * 1000)
        self.assert_passes(self.check())

    def test_a_longer_one_fails_with_its_name_and_length(self):
        self.write("src/core/long.cc", "x\n" * 351)
        self.write("tests/museum/cases.py", "x\n" * 400)
        self.assert_fails(self.check(), "src/core/long.cc: 351 lines", "tests/museum/cases.py: 400 lines")

    def test_a_tree_without_sources_is_not_a_pass(self):
        self.assert_fails(self.check(), "no source")


if __name__ == "__main__":
    unittest.main()
