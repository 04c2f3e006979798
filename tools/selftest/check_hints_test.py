"""The check on hints fails when it should."""

import unittest

from common import CheckTest

TABLE = "".join('    {{"--%s", Arity::kValue}, set},\n' % name for name in
                ("ro", "rw", "repo", "cwd", "env", "hide", "jail", "json", "policy", "stdin", "timeout", "registry"))
WORDS = """
    {"a check of the log", "sallyport audit verify"},
    {"the first word of `argv`", "the word after --"},
    {"`extra_read_only`", "--ro"},
"""
# What says each word of the table, so that none is left over.
SAID = '"a check of the log; the first word of `argv`; `extra_read_only`"\n'

REQUEST = """
struct JailedSubprocessSpec {
  std::vector<std::string> argv{};
  std::vector<std::filesystem::path> extra_read_only{};  // hidden
  StopLadder grace =
      StopLadder{}.grace;
  Workspace* workspace = nullptr;
  std::filesystem::path repo{};
  std::optional<std::filesystem::path> extra_ca{};
};
struct Usage {
  int elapsed = 0;
};
"""
REFUSAL = "Error invalid_request(std::string_view field, std::string_view why, std::string_view hint = {});\n"


class CheckHints(CheckTest):
    def check(self, line: str, path="src/gate/a.cc", words=WORDS):
        self.write("src/cli/call_options.cc", TABLE)
        self.write("src/cli/job_options.h", '{{"--lock-host", Arity::kRepeatable}, add},\n')
        self.write("src/cli/verbs/all.cc", "".join(f'.name = "{verb}",\n' for verb in ("run", "audit", "lint")))
        self.write("src/cli/option_words.cc", words)
        self.write("src/gate/said.cc", SAID)
        self.write("include/sallyport/jail.h", REQUEST)
        self.write("src/core/errors.h", REFUSAL)
        self.write("src/jobs/lint/lint.h", "lint_rules")
        file = self.write(path, line + "\n")
        result = self.run_check("check_hints.py", self.root)
        file.unlink()
        return result

    def assert_found(self, line, problem, path="src/gate/a.cc"):
        self.assert_fails(self.check(line, path), f"{path}:1: {problem}")

    def test_a_message_that_names_our_option_fails(self):
        self.assert_found('  return fail(invalid_request("x", "y", "show it with --ro"));', "names the option --ro")

    def test_an_option_is_seen_wherever_it_stands_in_prose(self):
        for line in ('"more was found; --ro shows it"', '"--ro shows it"', '"show it (--ro)"', '"show it with --ro DIR"',
                     '"show it: "\n"--ro"', 'R"(show it with --ro)"'):
            self.assert_found(line, "names the option --ro")

    def test_the_options_of_every_verb_are_ours(self):
        self.assert_found('"name it with --lock-host"', "names the option --lock-host")

    def test_headers_jobs_attacks_and_public_headers_are_read(self):
        for path in ("src/gate/a.h", "src/jobs/validate/a.cc", "src/attack/a.cc", "include/sallyport/a.h"):
            self.assert_found('"show it with --ro"', "names the option --ro", path)

    def test_a_message_that_names_a_command_of_ours_fails(self):
        for line in ('"sallyport audit verify says more"', '"see: sallyport "\n"audit verify"'):
            self.assert_found(line, "names the command 'sallyport audit'")

    def test_a_name_that_the_cli_has_no_words_for_fails(self):
        for name in ("extra_ca", "argv", "GitAccess::kWritable", "a.b", "microvm-tcg"):
            self.assert_found(f'"leave `{name}` out"', f"src/cli/option_words.cc has no words for `{name}`")

    def test_words_that_no_message_says_fail(self):
        self.assert_fails(self.check("", words=WORDS + '{"verify the log", "sallyport audit verify"},'),
                          "no message of the library says verify the log")

    def test_words_for_what_no_header_declares_fail(self):
        self.assert_fails(self.check('"`lint_rulez`"', words=WORDS + '{"`lint_rulez`", "--rules"},'),
                          "no header of the library's users declares lint_rulez")
        self.assert_passes(self.check('"`lint_rules`"', words=WORDS + '{"`lint_rules`", "--rules"},'))

    def test_a_field_that_no_caller_fills_fails(self):
        for line in ('invalid_request("rw", "why")', 'invalid_request(\n    "rw", "why")', 'Error{InvalidRequest{.field = "rw"}}',
                     'invalid_request(a.empty() ? "rw" : "argv", "why")', 'constexpr std::string_view kField = "rw";',
                     'Status check(const Path& path, std::string_view field) { check(f(a, "b"), "rw"); }'):
            result = self.check(line)
            self.assert_fails(result, "the field 'rw' is no member of a struct that callers fill")
        for unfilled in ("hidden", "elapsed"):
            self.assert_found(f'invalid_request("{unfilled}", "why")', f"the field '{unfilled}' is no member")

    def test_a_field_that_the_cli_cannot_name_fails(self):
        for name in ("workspace", "grace", "extra_ca"):
            self.assert_found(f'invalid_request("{name}", "why")', f"src/cli/option_words.cc has no words for the field '{name}'")

    def test_fields_that_the_cli_can_name_and_what_is_no_field_pass(self):
        for line in ('invalid_request("extra_read_only", "why")', 'invalid_request("argv", "not rw")', '// invalid_request("rw", "")',
                     'invalid_request("repo", "why")', 'invalid_request(fmt::format("host rule \'{}\'", x), "why")',
                     'InvalidRequest{.field = "host rule"}', 'void emit(std::string_view field) { emit("rw"); }'):
            self.assert_passes(self.check(line))
        self.assert_passes(self.check('invalid_request("extra_ca", "why")', words=WORDS + '{"`extra_ca`", "--ca"},'))

    def test_other_options_tables_and_comments_pass(self):
        for line in ('"run bwrap with --ro-bind"', '{"--ro", "--env"}', '"--ro --env"', "// say --ro", "/* say\n--ro */",
                     '"with `extra_read_only`"', '"npm\'s --registry URL"', '"see what `npm config get registry` says"',
                     '"<title>sallyport audit</title>"', '"a sallyport is a gate"', "'\"'; f(1'000); // \"say --ro\""):
            self.assert_passes(self.check(line))

    def test_the_cli_and_tests_may_name_them(self):
        for path in ("src/cli/a.cc", "src/gate/a_test.cc"):
            self.assert_passes(self.check('"show it with --ro; sallyport audit verify; `extra_ca`"', path))

    def test_without_its_tables_it_says_so(self):
        self.assert_passes(self.check(""))
        for path in ("src/cli/call_options.cc", "src/cli/verbs/all.cc", "src/cli/option_words.cc"):
            self.check("")
            self.write(path, "")
            result = self.run_check("check_hints.py", self.root)
            self.assertEqual(result.returncode, 2, result.stdout)


if __name__ == "__main__":
    unittest.main()
