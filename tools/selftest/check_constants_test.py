"""The check on constants fails when it should. Objects are really compiled and read with objdump."""

import unittest

from objects_fixture import ObjectsTest

ROW = "#include <array>\nstruct Row { const char* name; int number; };\n"
USE = "const void* use{0}() {{ return &kTable; }}\n"


class CheckConstantsTest(ObjectsTest):
    def setUp(self):
        super().setUp()
        self.compile("src/core/good.cc", ROW + 'constexpr auto kTable = std::to_array<Row>({Row{"a", 1}});\n' + USE.format(1))

    def constants(self):
        return self.check("check_constants.py")

    def test_read_only_tables_and_variables_pass(self):
        self.compile("src/core/variable.cc", "int kept = 1;\nint* use2() { return &kept; }\n")
        self.compile("src/core/number.cc", "extern const int kNumber;\nconst int kNumber = 3;\n")
        self.assert_passes(self.constants())

    def test_a_table_that_is_not_const_fails(self):
        self.compile("src/gate/bad.cc", "namespace a {\n" + ROW.replace("#include <array>\n", "")
                     + 'Row kTable[] = {{"a", 1}};\n' + USE.format(4) + "}\n")
        self.assert_fails(self.constants(), "src/gate/bad.cc: kTable is a constant in memory")

    def test_a_deduced_array_fails_where_the_compiler_makes_it_writable(self):
        self.compile("src/core/bad.cc", "#include <array>\nnamespace b {\n" + ROW.replace("#include <array>\n", "")
                     + 'constexpr std::array kTable = {Row{"a", 1}};\n' + USE.format(5) + "}\n")
        self.assert_fails(self.constants(), "src/core/bad.cc: kTable is a constant")

    def test_tests_and_benchmarks_may(self):
        self.compile("bench/any.cc", "namespace c { int kCount = 1; }\n")
        self.compile("src/core/any_test.cc", "namespace d { int kCount = 1; }\n")
        self.assert_passes(self.constants())

    def test_a_build_without_core_is_not_a_pass(self):
        self.entries.clear()
        self.compile("src/gate/good.cc", "int f() { return 1; }\n")
        self.assert_fails(self.constants(), "src/core: no object of it was found")


if __name__ == "__main__":
    unittest.main()
