"""The check on public headers fails when it should."""

import unittest

from common import CheckTest

GOOD = """// A thing. Errors: none. The rule: docs/contract.md, C1.
#pragma once

#include <string>

struct Thing {
  std::string name{};  // std::vector stands in a comment only
};
"""


class CheckHeaders(CheckTest):
    def check(self, text):
        self.write("include/sallyport/thing.h", text)
        return self.run_check("check_headers.py", self.root)

    def test_a_header_that_is_a_manual_passes(self):
        self.assert_passes(self.check(GOOD))

    def test_one_without_the_contract_fails_and_a_link_further_down_is_none(self):
        text = GOOD.replace(" The rule: docs/contract.md, C1.", "") + "// docs/contract.md\n"
        self.assert_fails(self.check(text), "include/sallyport/thing.h: ", "docs/contract.md")

    def test_one_that_names_no_error_fails(self):
        silent = GOOD.replace(" Errors: none.", "")
        self.assert_fails(self.check(silent), "names no errors")
        self.assert_fails(self.check(GOOD.replace("Errors: none.", "Terrors.")), "names no errors")

    def test_a_type_of_error_is_a_name(self):
        self.write("include/sallyport/error.h", GOOD + "struct ToolMissing {\n};\n")
        self.assert_passes(self.check(GOOD.replace("Errors: none.", "Gives ToolMissing.")))

    def test_an_error_that_no_manual_of_a_call_names_fails(self):
        self.write("include/sallyport/error.h", GOOD + "#include <variant>\nusing ErrorDetailVariant =\n    std::variant<ToolMissing,\n  JailDied>;\n")
        self.write("include/sallyport/gate.h", GOOD.replace("Errors: none.", "Errors: ToolMissing."))
        self.assert_fails(self.check(GOOD), "JailDied is named by the first comment of neither jail.h nor gate.h")
        self.write("include/sallyport/jail.h", GOOD + "// JailDied\n")
        self.assert_fails(self.check(GOOD), "JailDied is named")
        self.write("include/sallyport/jail.h", GOOD.replace("Errors: none.", "Errors: JailDied."))
        self.assert_passes(self.check(GOOD))

    def test_one_that_leans_on_another_headers_includes_fails(self):
        self.assert_fails(self.check(GOOD.replace("#include <string>\n", "")), "std::string", "<string>")
        self.assert_fails(self.check(GOOD.replace("<string>", "<string_view>")), "std::string", "<string>")

    def test_a_name_that_the_table_lacks_is_said(self):
        self.assert_fails(self.check(GOOD.replace("std::string", "std::stringstream")), "std::stringstream", "table")

    def test_one_that_can_be_included_twice_fails(self):
        self.assert_fails(self.check(GOOD.replace("#pragma once\n", "")), "#pragma once")

    def test_without_headers_it_says_so(self):
        result = self.run_check("check_headers.py", self.root)
        self.assertEqual(result.returncode, 2)
        self.assertIn("no public header", result.stderr)


if __name__ == "__main__":
    unittest.main()
