"""The check on sizes fails when it should."""

import unittest

from common import CheckTest


def body(lines):
    return "  work();\n" * lines


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

    def test_what_builds_and_what_is_data_counts_too(self):
        for path in ("src/core/CMakeLists.txt", "CMakeLists.txt", "cmake/Package.cmake.in", "src/jobs/report/rules/c.yml",
                     "src/jobs/probe/page/page.js", "policies/shell.toml"):
            self.write(path, "x\n" * 351)
            self.assert_fails(self.check(), f"{path}: 351 lines")
            self.write(path, "x\n")

    def test_functions_up_to_the_limit_pass(self):
        self.write("src/core/a.cc", "namespace a {\nint run() {\n" + body(58) + "}\n}  // namespace a\n")
        self.write("tools/a.py", "def run():\n" + "    work()\n" * 59)
        self.assert_passes(self.check())

    def test_a_longer_function_fails_with_its_line_and_name(self):
        self.write("src/core/a.cc", "namespace a {\nint run(int a) {\n" + body(59) + "}\n}  // namespace a\n")
        self.assert_fails(self.check(), "src/core/a.cc:2: 61 lines in int run(int a)")
        self.write("src/core/a.cc", "")
        self.write("tools/a.py", "\ndef run():\n" + "    work()\n" * 60)
        self.assert_fails(self.check(), "tools/a.py:2: 61 lines in run")

    def test_a_function_of_any_shape_is_seen(self):
        for opening in ("TEST(Gate, Opens) {", "Gate::Gate(int a) : a_(a), b_{2} {", "  auto f() const noexcept -> Result<int> {",
                        "bool operator==(const A& a, const A& b) {", "template <class T = int>\nvoid f(int a = 1) {",
                        "struct A {\n  int b = 3;\n  int f() {", "extern \"C\" {\nint f() {", "struct Made f(int a) {"):
            self.write("src/core/a.cc", opening + "\n" + body(61) + "}\n")
            self.assert_fails(self.check(), "lines in ")

    def test_types_data_and_braces_in_text_are_no_functions(self):
        self.write("src/core/a.cc", "struct A {\n" + "  int b;\n" * 70 + "};\n" +
                   "constexpr auto kRows = std::to_array<Row>({\n" + "  {1},\n" * 70 + "});\n" +
                   "const std::map<int, int> kNames{\n" + "  {1, 2},\n" * 70 + "};\n" +
                   'int f() {\n  return text("{", \'{\', R"({{)");  // {\n}\n' + "#define BRACE {\n" * 70)
        self.assert_passes(self.check())

    def test_a_tree_without_sources_is_not_a_pass(self):
        self.assert_fails(self.check(), "no source")


if __name__ == "__main__":
    unittest.main()
