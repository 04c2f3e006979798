"""The check on the order of the CLI's code fails when it should."""

import subprocess
import unittest

from common import CheckTest

HEAD = "SECTIONS\n{\n  .text.first :\n  {\n    *rcrt1.o(.text)\n"


class CheckFirstTextTest(CheckTest):
    def setUp(self):
        super().setUp()
        source = self.write("any.cc", "".join(f"int f{i}() {{ return {i}; }}\n" for i in range(20)))
        self.program = self.root / "any.o"
        subprocess.run(["c++", "-c", source, "-o", self.program], check=True)

    def first_text(self, names):
        lines = "".join(f"    *(.text.{name})\n" for name in names)
        return self.run_check("check_first_text.py", self.write("first.ld", HEAD + lines + "  }\n}\n"), self.program)

    def test_a_few_that_are_gone_pass(self):
        self.assert_passes(self.first_text([f"_Z2f{i}v" for i in range(10)] + ["_Z3f10v"] * 8 + ["gone"] * 2))

    def test_many_that_are_gone_fail_and_are_named(self):
        self.assert_fails(self.first_text([f"_Z2f{i}v" for i in range(8)] + ["startup.gone"] * 2), "missing: gone")

    def test_an_order_of_nothing_fails(self):
        self.assert_fails(self.first_text([]), "0 of 0")

    def test_a_program_that_is_not_there_is_an_error(self):
        self.program.unlink()
        self.assert_fails(self.first_text(["_Z2f1v"]), "cannot list the symbols")


if __name__ == "__main__":
    unittest.main()
