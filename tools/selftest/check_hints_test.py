"""The check on hints fails when it should."""

import unittest

from common import CheckTest

TABLE = "".join('    {{"--%s", Arity::kValue}, set},\n' % name for name in
                ("ro", "rw", "repo", "cwd", "env", "hide", "jail", "json", "policy", "stdin", "timeout"))


class CheckHints(CheckTest):
    def check(self, line: str):
        self.write("src/cli/call_options.cc", TABLE)
        self.write("src/gate/a.cc", line + "\n")
        return self.run_check("check_hints.py", self.root)

    def test_a_message_that_names_our_option_fails(self):
        result = self.check('  return fail(invalid_request("x", "y", "show it with --ro"));')
        self.assertEqual(result.returncode, 1)
        self.assertIn("src/gate/a.cc:1: names the option --ro", result.stdout)

    def test_other_options_tables_and_comments_pass(self):
        for line in ('"run bwrap with --ro-bind"', '{"--ro", "--env"}', "// say --ro", '"with `extra_read_only`"',
                     '"npm\'s --registry URL"'):
            self.assertEqual(self.check(line).returncode, 0, line)

    def test_without_the_table_of_options_it_says_so(self):
        self.write("src/cli/call_options.cc", "")
        self.assertEqual(self.run_check("check_hints.py", self.root).returncode, 2)


if __name__ == "__main__":
    unittest.main()
