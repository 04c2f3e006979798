"""lint as a user runs it. usage: lint_test.py --sallyport FILE --npm DIR [--tree DIR] SUITE"""

import json
import sys
from pathlib import Path

from job_case import OPTIONS, JobTest, main

EXAMPLES = Path(__file__).parent / "examples"


class Lint(JobTest):
    def setUp(self):
        super().setUp()
        self.with_real_tools()

    def lint(self, *args):
        done = self.sallyport("lint", self.repo, "--json", *args)
        self.assertIn(done.returncode, (0, 1, 2), done.stderr)
        return json.loads(done.stdout), done.returncode

    def test_each_rule_finds_its_examples_and_nothing_else_C30(self):
        wanted = set()
        for example in sorted(EXAMPLES.iterdir()):
            lines = example.read_text(encoding="utf-8").splitlines()
            self.write(example.name, example.read_text(encoding="utf-8"))
            for number, line in enumerate(lines, 1):
                _, mark, rules = line.partition("expect: ")
                for rule in rules.replace("*/", "").split() if mark else []:
                    wanted.add((example.name, number, rule))
        record, code = self.lint()
        self.assertEqual(code, 1)
        self.assertEqual(self.found(record), wanted)
        listed = json.loads(self.sallyport("lint", "--rules", "--json").stdout)["rules"]
        self.assertEqual({rule["id"] for rule in listed} - {rule for _, _, rule in wanted}, set(), "rules without an example")

    def test_strings_and_comments_do_not_match_C30(self):
        self.write("a.py", '# os.system("x")\ntext = "os.system(1); eval(2)"\n')
        self.write("a.c", '/* system("x"); */ const char* s = "fork()";\n')
        record, code = self.lint()
        self.assertEqual((record["findings"], code), ([], 0))

    def test_the_text_has_file_line_column_and_a_reason_C30(self):
        self.write("d/a.py", 'import os\nx = os.system("ls")\n')
        done = self.sallyport("lint", self.repo)
        self.assertEqual(done.stdout, "d/a.py:2:5: python-os-process: the os module starts a process here\n")
        self.assertEqual(done.returncode, 1)

    def test_exceptions_need_a_reason_and_are_kept_in_the_report_C30(self):
        self.write("a.py", "import os\nos.fork()\n")
        exceptions = self.home / "exceptions"
        exceptions.write_text("python-os-process a.py\n", encoding="utf-8")
        refused = self.sallyport("lint", self.repo, "--exceptions", exceptions)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("1:", refused.stderr)
        exceptions.write_text("python-os-process a.py it is the gate\npython-eval gone.py old\n", encoding="utf-8")
        record, code = self.lint("--exceptions", exceptions, "--sarif", self.home / "out.sarif")
        self.assertEqual(code, 0)
        self.assertEqual(record["findings"][0]["excused"], "it is the gate")
        self.assertEqual(record["unused_exceptions"], [2])
        result = json.loads((self.home / "out.sarif").read_text())["runs"][0]["results"][0]
        self.assertEqual(result["suppressions"][0]["kind"], "external")

    def test_a_comment_or_an_ignore_file_excuses_nothing_C30_C38(self):
        self.write("a.py", "import os\nos.system('x')  # ast-grep-ignore\n")
        self.write("b.py", "# ast-grep-ignore\n\nimport os\nos.system('x')\n")
        self.write("c.py", "import os\nos.system('x')\n")
        for name in (".gitignore", ".ignore"):
            self.write(name, "*\n")
        self.write("sgconfig.yml", "ruleDirs: []\n")
        record, code = self.lint()
        self.assertEqual(code, 1)
        self.assertEqual({(f["path"], f["line"]) for f in record["findings"]}, {("a.py", 2), ("b.py", 4), ("c.py", 2)})
        self.assertTrue(all(f["counts"] for f in record["findings"]))

    def test_code_without_an_extension_that_ast_grep_knows_is_looked_at_C30_C38(self):
        deed = "import os\nos.system('x')\n"
        self.write("tool", "#!/usr/bin/env python3\n" + deed)
        self.write("run", "#!/usr/bin/env -S node --no-warnings\nrequire('child_process')\n")
        self.write("gui.pyw", deed)
        self.write("UPPER.PY", deed)
        self.write("old.C", 'void f() { system("x"); }\n')
        self.write("part.inl", 'inline void f() { system("x"); }\n')
        self.write("wide.c", "\ufeffvoid f(void) {\n system(0); }\n".encode("utf-16-le"))
        self.write("script", "#!/bin/sh\nos.system('x')\n")
        self.write("text", deed)
        record, code = self.lint()
        self.assertEqual(code, 1)
        found = {(f["path"], f["line"]) for f in record["findings"]}
        self.assertEqual(found, {("tool", 3), ("run", 2), ("gui.pyw", 2), ("UPPER.PY", 2), ("old.C", 1), ("part.inl", 1), ("wide.c", 2)})

    def test_only_scripts_without_extensions_are_looked_at_C30(self):
        self.write("tool", "#!/usr/bin/python3\nimport os\nos.system('x')\n")
        self.assertEqual(self.lint()[1], 1)
        self.write("tool", "#!/usr/bin/python3\nprint(1)\n")
        self.assertEqual(self.lint()[1], 0)

    def test_a_comment_excuses_nothing_in_a_large_file_either_C38(self):
        filler = "# filler filler filler filler filler filler filler filler\n" * 170_000
        self.write("a.py", filler + "import os\nos.system('x')  # ast-grep-ignore\n")
        record, code = self.lint()
        self.assertIn(code, (1, 2), record)

    def test_files_and_names_that_are_no_utf8_are_looked_at_C38(self):
        self.write("latin.py", b"import os\nos.system('\xe4')\n")
        self.write(b"\xff\n.py", "import os\nos.system('x')\n")
        record, code = self.lint()
        self.assertEqual(code, 1)
        self.assertEqual({line for _, line, _ in self.found(record)}, {2})
        self.assertEqual(len(record["findings"]), 2)

    def test_changed_looks_at_changed_and_untracked_files_only(self):
        self.write("old.py", "import os\nos.system('x')\n")
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-qm", "m")
        self.write("new.py", "import os\nos.system('x')\n")
        record, code = self.lint("--changed", "HEAD")
        self.assertEqual((code, self.found(record)), (1, {("new.py", 2, "python-os-process")}))
        self.assertEqual(self.lint("--changed", "no-such-commit")[1], 2)

    def test_without_ast_grep_it_refuses_with_the_install_command_C30(self):
        self.path = ["/usr/bin", "/bin"]
        self.write("a.py", "x = 1\n")
        done = self.sallyport("lint", self.repo)
        self.assertEqual(done.returncode, 2)
        self.assertIn("ast-grep is not installed", done.stderr)
        self.assertIn("install", done.stderr)


class LintOfThisTree(JobTest):
    def test_this_tree_starts_processes_in_its_one_layer_only_C1_C30(self):
        self.with_real_tools()
        tree = Path(OPTIONS.tree)
        self.repo = tree / "src"
        done = self.sallyport("lint", tree / "src", "--exceptions", tree / "tools/lint_exceptions.txt")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("excuses nothing", done.stderr)


class Doctor(JobTest):
    def test_tells_what_is_here_and_how_to_install_the_rest_and_remembers_it_C29(self):
        self.with_real_tools()
        done = self.sallyport("doctor", "--json")
        tools = {tool["name"]: tool for tool in json.loads(done.stdout)["tools"]}
        self.assertEqual(len(tools), 16)
        self.assertEqual((tools["git"]["state"], tools["git"]["need"]), ("present", "mandatory"))
        self.assertRegex(tools["git"]["version"], r"^2\.")
        self.assertEqual(tools["git"]["writable_by"], ["root"])
        self.assertRegex(tools["git"]["binary"]["sha256"], r"^[0-9a-f]{64}$")
        self.assertEqual(tools["ast-grep"]["version"], "0.51.0")
        self.assertEqual((tools["semgrep"]["state"], tools["semgrep"]["install"]), ("missing", "pipx install semgrep"))
        self.assertEqual(tools["sandbox-exec"]["state"], "not applicable")
        cached = self.home / ".cache/sallyport/versions.v1"
        self.assertIn("0.51.0", cached.read_text())
        cached.write_text(cached.read_text().replace("0.51.0", "9.9.9"))
        again = {tool["name"]: tool for tool in json.loads(self.sallyport("doctor", "--json").stdout)["tools"]}
        self.assertEqual(again["ast-grep"]["version"], "9.9.9", "the answer comes from the cache")

    def test_fails_only_when_a_mandatory_tool_is_missing_C29(self):
        self.with_real_tools()
        self.assertEqual(self.sallyport("doctor").returncode, 0)
        self.path = [self.tools]
        missing = self.sallyport("doctor")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("install: apt-get install git", missing.stdout)


if __name__ == "__main__":
    sys.exit(main(globals()))
