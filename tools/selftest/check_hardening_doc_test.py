import json
import re
import unittest

from common import CheckTest


class CheckHardeningDocTest(CheckTest):
    def setUp(self):
        super().setUp()
        self.facts = [{"kind": "refused", "what": "--pre", "why": "it starts a program"},
                      {"kind": "forced", "what": "a|b", "why": "so"}]

    def check(self, body, *options):
        tools = [{"name": "rg", "role": "tool", "hardening": "rg"}, {"name": "bwrap", "role": "wrapper", "hardening": "none"}]
        answers = {"list": {"tools": tools}, "show rg": {"tools": [tools[0] | {"facts": self.facts}]},
                   "show tool": {"tools": [{"name": "tool", "facts": [{"kind": "refused", "what": "all", "why": "it runs code"}]}]},
                   "check": {"error": {"hint": "one of none, rg, jailed"}}}
        for name, answer in answers.items():
            self.write(f"answers/{name}", json.dumps(answer))
        program = self.write("sallyport", f'#!/bin/sh\n[ "$2" = show ] && name="show $3" || name=$2\ncat "{self.root}/answers/$name"\n')
        program.chmod(0o755)
        self.document = self.write("hardening.md", f"# page\n{body}after\n")
        self.policy = self.root / "policy.md"
        if not self.policy.exists():
            self.policy.write_text('| `hardening` | `"none"` | one of `none rg jailed`; what each does |\n')
        return self.run_check("check_hardening_doc.py", "--sallyport", program, "--document", self.document, "--policy", self.policy,
                              *options)

    GOOD = ("<!-- facts rg -->\n| | what | why |\n|---|---|---|\n| forced | a\\|b | so |\n"
            "| refused | --pre | it starts a program |\n<!-- end -->\n"
            "\n### jailed\n\n<!-- facts jailed -->\n| | what | why |\n|---|---|---|\n| refused | all | it runs code |\n<!-- end -->\n")

    def test_the_codes_own_table_passes(self):
        self.assert_passes(self.check(self.GOOD))

    def test_another_reason_fails(self):
        self.assert_fails(self.check(self.GOOD.replace("starts", "reads")), "it reads a program")

    def test_a_row_the_code_no_longer_has_fails(self):
        self.facts.pop()
        self.assert_fails(self.check(self.GOOD), "forced")

    def test_a_missing_table_fails(self):
        self.assert_fails(self.check("nothing\n"), "'rg'")

    def test_a_hardening_that_only_policies_name_needs_its_table(self):
        self.assert_fails(self.check(self.GOOD[:self.GOOD.index("\n### jailed")]), "no table of 'jailed'")

    def test_a_table_of_nothing_fails(self):
        self.assert_fails(self.check(self.GOOD.replace("facts rg", "facts rgg")), "a table of 'rgg'")

    def test_another_list_of_names_fails_and_is_renewed(self):
        stale = '| `hardening` | `"none"` | one of `none rg`; what each does |\n'
        self.write("policy.md", stale)
        self.assert_fails(self.check(self.GOOD), "none rg jailed")
        self.assert_passes(self.check(self.GOOD, "--write"))
        self.assertEqual(self.policy.read_text(), stale.replace("none rg", "none rg jailed"))

    def test_write_puts_a_missing_table_behind_the_others(self):
        self.assert_passes(self.check(self.GOOD[:self.GOOD.index("\n### jailed")], "--write"))
        self.assertEqual(self.document.read_text(), f"# page\n{self.GOOD}after\n")

    def test_write_renews_the_table_and_keeps_the_rest(self):
        self.assert_passes(self.check(re.sub("-->\n[|].*?<!-- end", "-->\nold\n<!-- end", self.GOOD, flags=re.S), "--write"))
        self.assertEqual(self.document.read_text(), f"# page\n{self.GOOD}after\n")


if __name__ == "__main__":
    unittest.main()
