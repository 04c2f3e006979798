import unittest

from common import CheckTest

BEGIN, END = "<!-- tools/jail_matrix.py writes from here -->", "<!-- to here -->"


class CheckListsTest(CheckTest):
    def setUp(self):
        super().setUp()
        self.write("include/sallyport/guarantee.h",
                   'GuaranteeInfo{Guarantee::kOne, "a.one",\n  "the first"},\nGuaranteeInfo{Guarantee::kTwo, "a.two", "the second",\n Givers::kOci},\n')
        self.write("src/cli/verbs.cc", "extern const Verb kRunVerb;\n{&kRunVerb, &kLintVerb}\n")
        self.write("src/cli/verbs/run.cc", 'constinit const Verb kRunVerb{.name = "run",\n  .summary = "runs it",\n')
        self.write("src/cli/verbs/lint.cc", 'constinit const Verb kLintVerb{\n  .name = "lint", .summary = "reads it", .page = kPage};\n')
        self.write("docs/adr/0001-first.md", "# 0001. The first decision\n")
        self.write("docs/adr/README.md", "| No. | Decision |\n| --- | --- |\n| [0001](0001-first.md) | first |\n")
        self.page("README.md", "| Guarantee | Promise | `none` |\n| --- | --- | --- |\n"
                  "| `a.one` | the first | gate ¹ |\n| `a.two` | the second | – |\n\nafter\n")
        self.page("docs/jails.md", f"{BEGIN}\n| Guarantee | `native` |\n| --- | --- |\n| `a.one` | gate |\n| `a.two` | – |\n\n{END}\n"
                  "| Guarantee | a table of another kind |\n| --- | --- |\n| `a.one`, `a.two` | no |\n")
        self.page("docs/cli.md", "| verb | what it does |\n|---|---|\n| `run` | runs it |\n| `lint` | reads it |\n")

    def page(self, path, text):
        return self.write(path, text)

    def replace(self, path, old, new):
        text = (self.root / path).read_text()
        self.assertIn(old, text)
        self.write(path, text.replace(old, new))

    def check(self, *options):
        return self.run_check("check_lists.py", self.root, *options)

    def test_a_row_for_each_passes(self):
        self.assert_passes(self.check())

    def test_a_guarantee_that_the_readme_forgets_fails(self):
        self.replace("README.md", "| `a.two` | the second | – |\n", "")
        self.assert_fails(self.check(), "README.md: no row for `a.two`")

    def test_another_promise_fails(self):
        self.replace("README.md", "the second", "the best")
        self.assert_fails(self.check(), "the row of `a.two` does not say: the second")

    def test_a_guarantee_that_was_dropped_fails(self):
        self.replace("README.md", "| `a.two` |", "| `a.three` |")
        self.assert_fails(self.check(), "a row for `a.three`")

    def test_a_guarantee_that_the_table_of_jails_forgets_fails_written_or_not(self):
        self.replace("docs/jails.md", "| `a.two` | – |\n", "")
        self.assert_fails(self.check(), "jails.md:2: no row for `a.two`; tools/jail_matrix.py")
        self.assert_fails(self.check("--write"), "no row for `a.two`")

    def test_a_verb_that_the_document_forgets_fails(self):
        self.replace("docs/cli.md", "| `lint` | reads it |\n", "")
        self.assert_fails(self.check(), "cli.md: no row for `lint`")

    def test_a_record_without_a_row_fails(self):
        self.write("docs/adr/0002-next.md", "# 0002. The next\n")
        self.assert_fails(self.check(), "no row for [0002](0002-next.md)")

    def test_nothing_to_compare_with_fails(self):
        self.write("include/sallyport/guarantee.h", "")
        self.assert_fails(self.check(), "no guarantees")

    def test_write_adds_what_is_missing_and_keeps_the_documents_own_cells(self):
        self.replace("README.md", "| `a.two` | the second | – |\n", "")
        self.replace("docs/cli.md", "| `lint` | reads it |\n", "")
        self.write("docs/adr/0002-next.md", "# 0002. The next\n")
        self.assert_passes(self.check("--write"))
        self.assert_passes(self.check())
        self.assertIn("| `a.one` | the first | gate ¹ |\n| `a.two` | the second | – |\n\nafter\n", (self.root / "README.md").read_text())
        self.assertTrue((self.root / "docs/adr/README.md").read_text().endswith("| [0002](0002-next.md) | The next |\n"))

    def test_write_takes_the_attacks_from_the_program(self):
        page = self.page("docs/attacks.md", "before\n\n| attack | what |\n|---|---|\n| `old` | it was |\n\nafter\n")
        program = self.write("attack", "#!/bin/sh\nprintf '| attack | what |\\n|---|---|\\n| `new` | it is |\\n'\n")
        program.chmod(0o755)
        self.assert_passes(self.check("--write", "--attack", program))
        self.assertEqual(page.read_text(), "before\n\n| attack | what |\n|---|---|\n| `new` | it is |\n\nafter\n")


if __name__ == "__main__":
    unittest.main()
