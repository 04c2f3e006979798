import unittest

from objects_fixture import ObjectsTest

CALLS_OTHER = "int other();\n#include <unistd.h>\nint f() { return other() + dup2(0, 1); }\n"


class CheckChildSymbolsTest(ObjectsTest):
    def setUp(self):
        super().setUp()
        self.write("src/spawn/helper/approved_symbols.txt", "# what the child may call\ndup2  # descriptors\n\n_exit\n")
        self.compile("src/spawn/helper/child.cc", CALLS_OTHER)
        self.compile("src/spawn/helper/child_mounts.cc", "int other() { return 2; }\n")

    def child(self, *options):
        return self.check("check_child_symbols.py", *options)

    def test_approved_symbols_and_calls_within_the_unit_pass(self):
        self.assert_passes(self.child())

    def test_an_allocation_fails(self):
        self.compile("src/spawn/helper/child_bad.cc", "int* f2() { return new int(1); }\n")
        self.assert_fails(self.child(), "src/spawn/helper/child_bad.cc: refers to _Znwm")

    def test_an_exception_fails(self):
        self.compile("src/spawn/helper/child_bad.cc", "void f3() { throw 1; }\n")
        self.assert_fails(self.child(), "refers to __cxa_throw")

    def test_a_symbol_defined_outside_the_unit_fails(self):
        self.entries.pop()
        self.compile("src/spawn/helper/main.cc", "int other() { return 2; }\n")
        self.assert_fails(self.child(), "refers to _Z5otherv")

    def test_a_symbol_taken_off_the_list_fails(self):
        self.write("src/spawn/helper/approved_symbols.txt", "# dup2\n")
        self.assert_fails(self.child(), "refers to dup2")

    def test_a_missing_list_is_an_error(self):
        (self.root / "src/spawn/helper/approved_symbols.txt").unlink()
        self.assert_fails(self.child(), "cannot read")

    def test_a_build_without_the_unit_is_not_a_pass(self):
        self.assert_fails(self.child("--unit", "src/elsewhere/child*.cc"), "no built object matches")

    def test_a_unit_of_several_parts_is_checked_whole(self):
        parts = ("--unit", "src/spawn/*child*.cc", "--unit", "src/spawn/begin_*.cc")
        self.assert_fails(self.child(*parts), "no built object matches src/spawn/begin_")
        self.compile("src/spawn/begin_one.cc", "int other();\nint f4() { return other(); }\n")
        self.assert_passes(self.child(*parts))
        self.compile("src/spawn/begin_two.cc", "#include <string.h>\nsize_t f5(const char* s) { return strlen(s); }\n")
        self.assert_fails(self.child(*parts), "src/spawn/begin_two.cc: refers to strlen")


if __name__ == "__main__":
    unittest.main()
