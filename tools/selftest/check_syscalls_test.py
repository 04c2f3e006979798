"""The check on system calls fails when it should."""

import unittest

from common import CheckTest


class CheckSyscallsTest(CheckTest):
    def setUp(self):
        super().setUp()
        self.calls = self.write("unistd.h", "#define __NR_dup3 24\n#define __NR3264_lseek 62\n")
        self.write("src/spawn/helper/good.cc", "sys(__NR_dup3, 1L, 2L, 0L);\nsys(__NR_lseek, 1L);\n")

    def check(self):
        return self.run_check("check_syscalls.py", "--calls", self.calls, self.root)

    def test_calls_of_every_processor_pass(self):
        self.assert_passes(self.check())

    def test_a_call_of_one_processor_fails_with_its_line(self):
        self.write("src/spawn/helper/bad.cc", "\nsys(__NR_dup2, 1L, 2L);\n")
        self.assert_fails(self.check(), "src/spawn/helper/bad.cc:2: dup2 does not exist on every processor")

    def test_a_processors_own_folder_may(self):
        self.write("src/spawn/freestanding/x86_64/clone.S", "mov $__NR_fork, %eax\n")
        self.assert_passes(self.check())
        self.write("src/spawn/freestanding/sys.h", "sys(__NR_fork);\n")
        self.assert_fails(self.check(), "src/spawn/freestanding/sys.h:1: fork")

    def test_a_tree_without_calls_is_not_a_pass(self):
        self.write("src/spawn/helper/good.cc", "\n")
        self.assert_fails(self.check(), "wrong place")


if __name__ == "__main__":
    unittest.main()
