import unittest

from common import CheckTest

HEADER = 'inline constexpr std::string_view kDenied = "subproc.egress.denied";\n'
PAGE = "# JSON\n\n## Events\n\n| `name` | `fields` |\n| --- | --- |\n| `subproc.egress.denied` | `host` |\n\n## More\n\n| `x` | |\n"


class CheckEventsTest(CheckTest):
    def setUp(self):
        super().setUp()
        self.write("include/sallyport/event_name.h", HEADER)
        self.write("src/egress/log.cc", "sink->emit({.name = event_name::kDenied});\n")
        self.write("src/egress/log_test.cc", 'EXPECT_EQ(name, "subproc.egress.denied");\n')
        self.write("docs/json.md", PAGE)

    def check(self):
        return self.run_check("check_events.py", self.root)

    def test_one_table_and_its_document_pass(self):
        self.assert_passes(self.check())

    def test_a_name_that_is_spelled_out_fails_with_its_line(self):
        self.write("src/gate/run.cc", '// "subproc.egress.denied" in words is fine\nemit("subproc.jail.new");\n')
        self.assert_fails(self.check(), "src/gate/run.cc:2:", "subproc.jail.new")

    def test_a_name_that_nothing_emits_fails(self):
        self.write("src/egress/log.cc", "// event_name::kOther\n")
        self.assert_fails(self.check(), "nothing emits kDenied")

    def test_a_document_with_one_less_or_one_more_fails(self):
        self.write("docs/json.md", PAGE.replace("| `subproc.egress.denied` | `host` |\n", ""))
        self.assert_fails(self.check(), "lacks subproc.egress.denied")
        self.write("docs/json.md", PAGE.replace("| `host` |", "| `host` |\n| `subproc.egress.gone` | |"))
        self.assert_fails(self.check(), "no event subproc.egress.gone")

    def test_a_tree_without_names_is_an_error_and_no_pass(self):
        self.write("include/sallyport/event_name.h", "\n")
        self.assert_fails(self.check(), "no names")


if __name__ == "__main__":
    unittest.main()
