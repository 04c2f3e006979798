import json
import unittest

from common import CheckTest


class CheckHardeningDocTest(CheckTest):
    def setUp(self):
        super().setUp()
        self.facts = [{"kind": "refused", "what": "--pre", "why": "it starts a program"},
                      {"kind": "forced", "what": "a|b", "why": "so"}]

    def check(self, body, *options):
        tools = [{"name": "rg", "role": "tool"}, {"name": "bwrap", "role": "wrapper"}]
        listed = json.dumps({"tools": tools})
        shown = json.dumps({"tools": [tools[0] | {"facts": self.facts}]})
        program = self.write("sallyport", f"#!/bin/sh\n[ $2 = list ] && echo '{listed}' || echo '{shown}'\n")
        program.chmod(0o755)
        self.document = self.write("hardening.md", f"# page\n{body}after\n")
        return self.run_check("check_hardening_doc.py", "--sallyport", program, "--document", self.document, *options)

    GOOD = ("<!-- facts rg -->\n| | what | why |\n|---|---|---|\n| forced | a\\|b | so |\n"
            "| refused | --pre | it starts a program |\n<!-- end -->\n")

    def test_the_codes_own_table_passes(self):
        self.assert_passes(self.check(self.GOOD))

    def test_another_reason_fails(self):
        self.assert_fails(self.check(self.GOOD.replace("starts", "reads")), "it reads a program")

    def test_a_row_the_code_no_longer_has_fails(self):
        self.facts.pop()
        self.assert_fails(self.check(self.GOOD), "forced")

    def test_a_missing_table_fails(self):
        self.assert_fails(self.check("nothing\n"), "'rg'")

    def test_write_renews_the_table_and_keeps_the_rest(self):
        self.assert_passes(self.check("<!-- facts rg -->\nold\n<!-- end -->\n", "--write"))
        self.assertEqual(self.document.read_text(), f"# page\n{self.GOOD}after\n")


if __name__ == "__main__":
    unittest.main()
