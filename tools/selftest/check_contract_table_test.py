import unittest

from common import CheckTest


class CheckContractTableTest(CheckTest):
    def setUp(self):
        super().setUp()
        self.write("src/core/x_test.cc", "TEST(Allowlist, RefusesAPath) {\n}\nTEST_F(\n    Gate, KillsTheTree) {\n}\n")
        self.write("tools/CMakeLists.txt", "sallyport_check(check.layers check_layers.py)\n")
        self.rows = {n: "planned" for n in range(1, 42)}

    def check(self):
        rows = "".join(f"| C{n} | rule \\| {n} | {cell} |\n" for n, cell in self.rows.items())
        self.write("docs/contract.md", "# Contract\n\n| rule | what | tests |\n| --- | --- | --- |\n" + rows)
        return self.run_check("check_contract_table.py", self.root)

    def test_tests_files_and_checks_that_exist_pass(self):
        self.rows[1] = "`check.layers`, `tools/CMakeLists.txt`"
        self.rows[2] = "`Allowlist.RefusesAPath` and `Gate.Kills*`"
        self.assert_passes(self.check())

    def test_a_missing_rule_fails(self):
        del self.rows[17]
        self.assert_fails(self.check(), "C17 is missing")

    def test_a_test_that_does_not_exist_fails_with_its_line(self):
        self.rows[2] = "`Allowlist.AcceptsAPath`"
        self.assert_fails(self.check(), "docs/contract.md:6: C2 names Allowlist.AcceptsAPath")

    def test_a_file_that_does_not_exist_fails(self):
        self.rows[3] = "`tests/gone_test.cc`"
        self.assert_fails(self.check(), "tests/gone_test.cc")

    def test_a_pattern_that_matches_nothing_fails(self):
        self.rows[3] = "`Gate.Spares*`"
        self.assert_fails(self.check(), "Gate.Spares*")

    def test_a_rule_without_a_test_fails(self):
        self.rows[4] = "soon"
        self.assert_fails(self.check(), "C4 names no test")

    def test_no_table_is_an_error(self):
        self.assert_fails(self.run_check("check_contract_table.py", self.root), "cannot read")


if __name__ == "__main__":
    unittest.main()
