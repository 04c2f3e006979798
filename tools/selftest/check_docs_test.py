import unittest

from common import CheckTest


class CheckDocsTest(CheckTest):
    def setUp(self):
        super().setUp()
        self.write("src/cli/verbs/run.cc", 'extern const Verb v{.name = "run"}; const char* o = "--timeout"; int kLimit;')
        self.write("src/gate/engine.cc", "struct Engine { int run_in(); };")
        self.write("docs/cli.md", "# CLI\n")
        self.write("README.md", "See [the CLI](docs/cli.md), `src/gate/engine.cc`, `gate/*.cc`, `Engine::run_in`, `kLimit`.\n"
                                "```\nsallyport run --timeout 1s -- git log --oneline | sort --reverse\n```\n")

    def check(self):
        return self.run_check("check_docs.py", self.root)

    def readme(self, text):
        self.write("README.md", text + "\n")
        return self.check()

    def test_what_exists_passes(self):
        self.assert_passes(self.check())

    def test_a_file_that_is_gone_fails_with_its_line(self):
        self.assert_fails(self.readme("\nas in `src/gate/motor.cc`"), "README.md:2:", "src/gate/motor.cc")
        self.assert_fails(self.readme("`gate/motor.cc`"), "gate/motor.cc")
        self.assert_fails(self.readme("`motor.cc`"), "motor.cc")
        self.assert_fails(self.readme("`src/{gate,spawn}`"), "src/{gate,spawn}")

    def test_a_link_that_leads_nowhere_fails(self):
        self.assert_fails(self.readme("[x](docs/gone.md)"), "docs/gone.md")
        self.assert_passes(self.readme("[x](https://host.example/)"))

    def test_a_symbol_that_no_source_knows_fails(self):
        self.assert_fails(self.readme("`Engine::fly`"), "fly")
        self.assert_fails(self.readme("`kUnknownThing`"), "kUnknownThing")
        self.assert_fails(self.readme("`take_off()`"), "take_off")

    def test_an_option_or_verb_of_nobody_fails(self):
        self.assert_fails(self.readme("```\n$ sallyport run --tmieout 1s -- git\n```"), "--tmieout")
        self.assert_fails(self.readme("`sallyport fly`"), "fly")
        self.assert_fails(self.readme("```\nx | sallyport fly\n```"), "fly")

    def test_a_decision_record_may_speak_of_the_past(self):
        self.write("docs/adr/0001-x.md", "`src/gone.cc` `Old::name`\n")
        self.assert_passes(self.check())
        self.write("docs/adr/0001-x.md", "[x](gone.md)\n")
        self.assert_fails(self.check(), "gone.md")


if __name__ == "__main__":
    unittest.main()
