import unittest

from common import CheckTest

PICTURE = ('<svg><text class="name" x="1">include/sallyport</text><text class="name">cli</text><text class="name">gate</text>'
           '<text class="name">jails/*</text><text class="small" data-folders="src/jails">native bwrap</text></svg>\n')


class CheckDocsTest(CheckTest):
    def setUp(self):
        super().setUp()
        self.write("src/cli/call_options.cc", 'constexpr auto kOptions = {{{"--timeout", Arity::kValue}, set}};')
        self.write("src/cli/verbs/run.cc", 'extern const Verb v{.name = "run"}; auto o = parse_call_options(args); int kLimit;')
        self.write("src/cli/verbs/probe.cc", 'extern const Verb v{.name = "probe"}; auto o = {{{"--severity", Arity::kValue}, set}};')
        self.write("src/gate/engine.cc", '#define SALLYPORT_TRY\nstruct Engine { int run_in(); }; const char* o = "--no-config";')
        self.write("src/gate/other.cc", "class Wheel { void turn(); };")
        self.write("docs/cli.md", "# CLI\n\n| `run` | |\n| `probe` | |\n\n`--help` `--timeout` `--severity` `EDITOR`\n")
        self.write("src/cli/main.cc", 'auto v = variable("EDITOR");')
        self.write("README.md", "See [the CLI](docs/cli.md), `src/gate/engine.cc`, `gate/*.cc`, `Engine::run_in`, `kLimit`, `Engine`,\n"
                                "`SALLYPORT_TRY`, `--no-config`, `cat src/gate/engine.cc | wc`.\n"
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
        self.assert_fails(self.readme("`python3 tools/no_such_tool.py --all`"), "tools/no_such_tool.py")

    def test_a_link_that_leads_nowhere_fails(self):
        self.assert_fails(self.readme("[x](docs/gone.md)"), "docs/gone.md")
        self.assert_passes(self.readme("[x](https://host.example/)"))

    def test_a_link_to_no_heading_fails(self):
        self.write("docs/page.md", "# The `run` verb, in short\n\n## Same\n\n```\n# no heading\n```\n## Same\n")
        self.assert_passes(self.readme("# Here\n[x](docs/page.md#the-run-verb-in-short) [y](#here) [z](docs/page.md#same-1)"))
        self.assert_fails(self.readme("\n[x](docs/page.md#the-verb)"), "README.md:2:", "docs/page.md#the-verb")
        self.assert_fails(self.readme("[x](docs/page.md#no-heading)"), "#no-heading")
        self.assert_fails(self.readme("[x](docs/page.md#same-2)"), "#same-2")
        self.assert_fails(self.readme("# Here\n[x](#there)"), "#there")

    def test_the_changelog_and_the_examples_are_read(self):
        self.write("CHANGELOG.md", "`src/gone.cc`\n")
        self.assert_fails(self.check(), "CHANGELOG.md:1:")
        self.write("CHANGELOG.md", "# Changes\n")
        self.write("examples/hostile/README.md", "`Engine::fly`\n")
        self.assert_fails(self.check(), "examples/hostile/README.md:1:")

    def test_a_symbol_that_no_source_knows_fails(self):
        self.assert_fails(self.readme("`kUnknownThing`"), "kUnknownThing")
        self.assert_fails(self.readme("`take_off()`"), "take_off")
        self.assert_fails(self.readme("`Frobnicator`"), "Frobnicator")
        self.assert_fails(self.readme("`SALLYPORT_FOO`"), "SALLYPORT_FOO")

    def test_a_member_is_looked_up_where_its_type_is_defined(self):
        self.assert_fails(self.readme("`Engine::fly`"), "fly")
        self.assert_fails(self.readme("`Engine::turn`"), "Engine has no turn")
        self.assert_passes(self.readme("`Wheel::turn()`"))

    def test_an_option_or_verb_of_nobody_fails(self):
        self.assert_fails(self.readme("```\n$ sallyport run --tmieout 1s -- git\n```"), "--tmieout")
        self.assert_fails(self.readme("`sallyport fly`"), "fly")
        self.assert_fails(self.readme("```\nx | sallyport fly\n```"), "fly")
        self.assert_fails(self.readme("`--no-such-option`"), "--no-such-option")

    def test_an_option_of_another_verb_fails(self):
        self.assert_passes(self.readme("```\nsallyport probe all --severity high\n```"))
        self.assert_fails(self.readme("```\nsallyport probe all --timeout 1s\n```"), "probe has no option --timeout")
        self.assert_fails(self.readme("`run --severity high`"), "run has no option --severity")

    def test_what_the_cli_has_is_in_the_documents(self):
        page = self.root / "docs" / "cli.md"
        whole = page.read_text(encoding="utf-8")
        for gone, why in (("| `probe` | |\n", "lacks probe"), ("`--severity` ", "--severity of sallyport probe"),
                          ("`EDITOR`", "reads EDITOR")):
            self.write("docs/cli.md", whole.replace(gone, ""))
            self.assert_fails(self.check(), why)

    def test_a_decision_record_may_speak_of_the_past(self):
        self.write("docs/adr/0001-x.md", "`src/gone.cc` `Old::name`\n")
        self.assert_passes(self.check())
        self.write("docs/adr/0001-x.md", "[x](gone.md)\n")
        self.assert_fails(self.check(), "gone.md")

    def test_an_amended_decision_record_must_say_so(self):
        self.write("docs/adr/0001-x.md", "# 1\n\nStatus: accepted\n")
        self.write("docs/adr/0002-y.md", "# 2\n\nStatus: accepted; amends [0001](0001-x.md)\n")
        self.assert_fails(self.check(), "docs/adr/0001-x.md", "0002")
        self.write("docs/adr/0001-x.md", "# 1\n\nStatus: accepted; amended by 0002\n")
        self.assert_passes(self.check())

    def test_the_picture_has_each_folder_and_no_other(self):
        for folder in ("jails/native", "jails/bwrap"):
            self.write(f"src/{folder}/x.cc", "")
        self.write("docs/layers.svg", PICTURE)
        self.assert_passes(self.check())
        self.write("src/jails/oci/x.cc", "")
        self.assert_fails(self.check(), "src/jails/oci is missing")
        self.write("docs/layers.svg", PICTURE.replace("native", "oci native cage").replace(">gate<", ">gates<"))
        self.assert_fails(self.check(), "no src/jails/cage", "src/gate is missing", "no src/gates")

    def test_the_picture_has_the_rooms_of_a_layer(self):
        self.write("src/spawn/owner/x.cc", "")
        self.write("src/jails/native/x.cc", "")
        picture = PICTURE.replace("native bwrap", "native").replace("</svg>", '<text class="name">spawn</text></svg>')
        self.write("docs/layers.svg", picture)
        self.assert_fails(self.check(), "src/spawn/owner is missing")
        self.write("docs/layers.svg", picture.replace("</svg>", '<text class="small" data-folders="src/spawn">owner</text></svg>'))
        self.assert_passes(self.check())

    def test_each_step_of_a_call_names_what_is_there(self):
        def drawn(attributes):
            self.write("docs/call.svg", f'<svg><text class="name"{attributes} x="1">run</text></svg>\n')
            return self.check()

        self.write("src/gate/steps.h", "struct Later;\nint stage(int);  // then start()\n")
        self.assert_passes(drawn(' data-symbols="src/gate/engine.cc:run_in src/gate/engine.cc:Engine src/gate/steps.h:stage"'))
        self.assert_fails(drawn(""), '"run" names no function or type')
        self.assert_fails(drawn(' data-symbols="src/gate/engine.cc:fly"'), "src/gate/engine.cc has no fly")
        self.assert_fails(drawn(' data-symbols="src/gate/gone.cc:Engine"'), "src/gate/gone.cc has no Engine")
        self.assert_fails(drawn(' data-symbols="src/gate/steps.h:start"'), "has no start")
        self.assert_fails(drawn(' data-symbols="src/gate/steps.h:Later"'), "has no Later")


if __name__ == "__main__":
    unittest.main()
