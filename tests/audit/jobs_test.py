"""What a whole job leaves in the log, and what can be attested of it (ADR 0056), checked by an implementation that is not ours."""
import hashlib
import json
import shutil
import subprocess

import jsonschema

import independent
from audit_case import SOURCE, AuditCase, main

SCHEMA = jsonschema.Draft202012Validator(json.loads((SOURCE / "docs/audit.schema.json").read_text()))
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"


class JobCase(AuditCase):
    def setUp(self) -> None:
        super().setUp()
        self.key = self.dir / "audit.key"
        self.audit("keygen", "--name", "example.org/audit", "--key", self.key, "--interval", "24h")

    def git(self, *args: str, cwd=None) -> str:
        quiet = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main", "-c", "safe.directory=*"]
        return subprocess.run(["git", *quiet, *args], cwd=cwd or self.repo, check=True, capture_output=True, text=True).stdout.strip()

    def committed(self, **files: str) -> str:
        for name, text in files.items():
            (self.repo / name.replace("__", ".")).write_text(text)
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x")
        return self.git("rev-parse", "HEAD")

    def attested(self, what: str, predicate: str) -> dict:
        text = self.audit("attest", what, "--key", self.key, "--predicate", predicate).stdout.decode()
        statement = independent.open_envelope(text, (self.dir / "audit.key.pem").read_bytes())
        self.assertEqual(statement["_type"], "https://in-toto.io/Statement/v1")
        self.assertGreaterEqual(len(statement["subject"]), 1)
        for subject in statement["subject"]:
            self.assertTrue(subject["name"] and subject["digest"])
        return statement

    def check_log(self) -> None:
        for line in self.lines():
            SCHEMA.validate(json.loads(line))
        self.assertEqual(independent.chain_problem(self.lines()), "")
        self.assertTrue(self.audit_json("verify")["whole"])


class Jobs(JobCase):
    def test_a_scan_is_attested_with_its_commit_its_report_and_all_of_its_runs(self) -> None:
        commit = self.committed(app__py="print(1)\n")
        sarif = self.dir / "out.sarif"
        done = self.sallyport("probe", "rg_curated", self.repo, "--json", "--sarif", sarif)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        job = json.loads(done.stdout)["audit_job"]
        self.check_log()
        self.assertEqual({record["job"] for record in self.records() if record["kind"] != "job"}, {job})
        end = self.records()[-1]
        self.assertEqual((end["kind"], end["run"], end["result"], end["verdict"]), ("job", job, "passed", "clean"))

        statement = self.attested(job, "test-result")
        self.assertEqual(statement["predicateType"], TEST_RESULT)
        digests = {subject["name"]: subject["digest"] for subject in statement["subject"]}
        self.assertEqual(digests[str(self.repo)], {"gitCommit": commit, "gitTree": self.git("rev-parse", f"{commit}^{{tree}}")})
        self.assertEqual(digests["out.sarif"], {"sha256": hashlib.sha256(sarif.read_bytes()).hexdigest()})
        predicate = statement["predicate"]
        self.assertEqual(predicate["result"], "PASSED")
        self.assertEqual(predicate["passedTests"], ["rg_curated", "blinding"])
        self.assertEqual((predicate["warnedTests"], predicate["failedTests"]), ([], []))
        self.assertEqual(predicate["configuration"][-1]["annotations"]["severity"], "low")
        self.assertEqual(len(predicate["configuration"][0]["digest"]["sha256"]), 64)

        whole = self.attested(job, "receipt")
        self.assertEqual(whole["predicateType"], "urn:sallyport:job:v1")
        self.assertEqual(whole["predicate"]["record"], {"seq": end["seq"], "hash": end["hash"]})
        hashes = {record["hash"] for record in self.records() if record["kind"] != "job"}
        self.assertEqual({ref["hash"] for run in whole["predicate"]["runs"] for ref in run["records"]}, hashes)

        scai = self.attested("last-job", "scai")
        names = {entry["attribute"] for entry in scai["predicate"]["attributes"]}
        receipts = [{g["name"] for g in r["receipt"]["guarantees"]} for r in self.records() if r["kind"] == "result"]
        self.assertEqual(names, set.intersection(*receipts) | {"result.passed"})

    def test_findings_fail_and_below_the_threshold_they_warn(self) -> None:
        self.committed(app__py='password = "x"\nAWS = "AKIA' + "IOSFODNN7EXAMPLQ" + '"\n')
        self.assertEqual(self.sallyport("probe", "rg_curated", self.repo).returncode, 1)
        failed = self.attested("last-job", "test-result")["predicate"]
        self.assertEqual((failed["result"], failed["failedTests"]), ("FAILED", ["rg_curated"]))
        (self.repo / "app.py").write_text("a = '\u202e'\n")
        found = json.loads(self.sallyport("probe", "rg_curated", self.repo, "--json").stdout)["scanners"][0]["findings"]
        self.assertNotEqual(found, [])
        self.assertEqual(self.sallyport("probe", "rg_curated", self.repo, "--severity", "critical").returncode, 0)
        warned = self.attested("last-job", "test-result")["predicate"]
        self.assertEqual((warned["result"], warned["warnedTests"]), ("WARNED", ["rg_curated"]))
        self.assertEqual(warned["configuration"][-1]["annotations"]["severity"], "critical")

    def test_a_lint_is_attested_with_its_exceptions(self) -> None:
        commit = self.committed(app__py='import os\nos.system("ls")\n')
        self.env["PATH"] = f"{SOURCE}/build/npm/node_modules/@ast-grep/cli-linux-x64-gnu:{self.env['PATH']}"  # tools/setup.sh
        sarif = self.dir / "lint.sarif"
        done = self.sallyport("lint", self.repo, "--json", "--sarif", sarif)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.check_log()
        job = json.loads(done.stdout)["audit_job"]
        statement = self.attested(job, "test-result")
        digests = {subject["name"]: subject["digest"] for subject in statement["subject"]}
        self.assertEqual(digests[str(self.repo)]["gitCommit"], commit)
        self.assertEqual(digests["lint.sarif"], {"sha256": hashlib.sha256(sarif.read_bytes()).hexdigest()})
        self.assertEqual((statement["predicate"]["result"], statement["predicate"]["failedTests"]), ("FAILED", ["ast_grep"]))
        self.assertEqual(statement["predicate"]["configuration"][-1]["annotations"], {"changed": "", "exceptions": ""})
        rule = json.loads(done.stdout)["findings"][0]["rule"]
        excused = self.dir / "exceptions.txt"
        excused.write_text(f"{rule} app.py a test says so\n")
        self.assertEqual(self.sallyport("lint", self.repo, "--exceptions", excused).returncode, 0)
        passed = self.attested("last-job", "test-result")["predicate"]
        self.assertEqual((passed["result"], passed["passedTests"]), ("PASSED", ["ast_grep"]))
        self.assertEqual(len(passed["configuration"][-1]["annotations"]["exceptions"]), 64)

    def test_a_tree_is_attested_only_when_the_commit_itself_names_it(self) -> None:
        commit = self.committed(app__py="print(1)\n")
        tree = self.git("rev-parse", "HEAD^{tree}")
        self.sallyport("run", "--repo", self.repo, "--", "git", "--version")
        digest = lambda: self.attested("last", "receipt")["subject"][0]["digest"]
        self.assertEqual(digest(), {"gitCommit": commit, "gitTree": tree})
        # git replace gives git another commit for that id, so git's answer is about the other commit.
        (self.repo / "app.py").write_text("evil()\n")
        self.git("commit", "-q", "-am", "y")
        other = self.git("rev-parse", "HEAD")
        self.git("replace", commit, other)
        self.assertNotEqual(self.git("rev-parse", f"{commit}^{{tree}}"), tree)  # the control: git believes it
        self.assertIn(digest(), ({"gitCommit": commit}, {"gitCommit": commit, "gitTree": tree}))
        # The repo is gone: the rest can be attested all the same.
        self.repo.rename(self.dir / "moved")
        done = self.audit("attest", "last", "--key", self.key, cwd=self.dir)
        self.assertIn(b"no gitTree", done.stderr)
        statement = independent.open_envelope(done.stdout.decode(), (self.dir / "audit.key.pem").read_bytes())
        self.assertEqual(statement["subject"][0]["digest"], {"gitCommit": commit})

    def test_a_host_that_the_gate_does_not_admit_is_a_refusal_of_the_job_C36(self) -> None:
        self.committed(package__json=json.dumps({"name": "p", "version": "1.0.0"}))
        for why, *options in (("IP address", "--registry", "192.0.2.1"), ("every host", "--registry", "registry.example", "--allow-host", "*"),
                              ("one host", "--registry", "*.a.test"), ("no .npmrc", "--registry", "registry.example", "--registry-auth")):
            before = len(self.records()) if self.log.exists() else 0
            done = self.sallyport("validate", self.repo, "--no-cache", *options)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.check_log()
            refusal, end = self.records()[-2:]
            self.assertEqual(len(self.records()), before + 2)
            self.assertEqual((refusal["kind"], refusal["error"]["kind"], refusal["job"]), ("refusal", "invalid_request", end["run"]))
            self.assertEqual(refusal["tool"], "")  # there is no call yet
            self.assertIn(why.encode(), done.stdout + done.stderr)
            if options[-1] != "--registry-auth":  # what follows "auth:" is redacted
                self.assertIn(why, refusal["error"]["message"])
                self.assertIn(why, end["steps"][-1]["why"])
            self.assertEqual((end["kind"], end["result"]), ("job", "incomplete"))

    def test_a_file_of_the_operators_that_cannot_be_read_is_a_refusal_of_the_job_C36(self) -> None:
        self.committed(app__py="print(1)\n")
        broken = self.dir / "exceptions.txt"
        broken.write_text("python-eval app.py\n")  # no reason
        for verb in (("probe", "rg_curated", self.repo, "--baseline", self.dir / "nowhere.sarif"),
                     ("lint", self.repo, "--exceptions", self.dir / "nowhere.txt"), ("lint", self.repo, "--exceptions", broken)):
            before = len(self.records()) if self.log.exists() else 0
            done = self.sallyport(*verb)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.check_log()
            self.assertEqual(len(self.records()), before + 1)
            refusal = self.records()[-1]
            self.assertEqual((refusal["kind"], refusal["label"], len(refusal["job"])), ("refusal", verb[0], 32))
            self.assertIn(refusal["error"]["message"].encode(), done.stderr)
        done = self.sallyport("probe", "rg_curated", self.repo)  # the control
        self.assertEqual((done.returncode, self.records()[-1]["kind"]), (0, "job"))

    def test_what_was_not_completed_is_no_test_result(self) -> None:
        self.committed(app__py="print(1)\n")
        env = {**self.env, "PATH": str(self.dir / "nowhere")}
        self.assertEqual(self.sallyport("probe", "rg_curated", self.repo, env=env).returncode, 2)
        self.check_log()
        self.audit("attest", "last-job", "--key", self.key, "--predicate", "test-result", code=125)
        self.assertEqual(self.attested("last-job", "receipt")["predicate"]["result"], "incomplete")
        # Nor is a single run.
        self.run_tool("echo")
        self.audit("attest", "last", "--key", self.key, "--predicate", "test-result", code=125)

    def test_a_job_without_a_repo_is_a_recorded_refusal(self) -> None:
        for verb in (("probe", "rg_curated"), ("validate",), ("lint",)):
            self.assertEqual(self.sallyport(*verb, self.dir / "nowhere").returncode, 2, verb)
        self.check_log()
        refusals = [record for record in self.records() if record["kind"] == "refusal"]
        self.assertEqual([record["label"] for record in refusals], ["probe", "validate", "lint"])
        self.assertEqual(refusals[0]["error"]["kind"], "invalid_request")
        self.committed(app__py="print(1)\n")
        done = self.sallyport("probe", "rg_curated", self.repo, "--sarif", self.dir / "nowhere/out.sarif")
        self.assertEqual(done.returncode, 2, done.stderr)
        refusal = self.records()[-1]
        self.assertEqual((refusal["kind"], refusal["label"], len(refusal["job"])), ("refusal", "probe", 32))
        self.assertIsNotNone(refusal["policy_digest"])

    def test_of_an_edited_log_nothing_is_attested_and_nothing_crashes(self) -> None:
        self.committed(app__py="print(1)\n")
        self.sallyport("probe", "rg_curated", self.repo)
        self.attested("last-job", "test-result")  # the control
        file = sorted(self.log.glob("audit-*.jsonl"))[-1]
        lines = file.read_bytes().splitlines()
        file.write_bytes(b"\n".join(lines[:-1] + [lines[-1].replace(b'"passed"', b'"failed"')]) + b"\n")
        self.audit("attest", "last-job", "--key", self.key, "--predicate", "test-result", code=125)
        # Sealed again, but of the wrong shape: members of other types, and missing.
        for number, line in enumerate(lines):
            record = json.loads(line)
            for name in [name for name in record if name not in ("schema", "seq", "prev", "time", "kind", "run", "hash")]:
                for value in (5, [[]], {"x": []}):
                    edited = {**record, name: value}
                    del edited["hash"]
                    text = json.dumps(edited, separators=(",", ":")).encode()
                    sealed = text[:-1] + b',"hash":"' + hashlib.sha256(text).hexdigest().encode() + b'"}'
                    file.write_bytes(b"\n".join(lines[:number] + [sealed] + lines[number + 1:]) + b"\n")
                    readers = [("show",), ("attest", "last-job", "--key", self.key, "--predicate", "scai")]
                    if value == 5:
                        readers += [("stats",), ("report", "-o", self.dir / "r.html")]
                    for args in readers:
                        code = self.sallyport("audit", *args).returncode
                        self.assertIn(code, (0, 125), (args, number, name, value))


class Validation(JobCase):
    def test_a_validation_is_attested_as_a_test_result(self) -> None:
        if shutil.which("npm", path=self.env["PATH"]) is None:
            self.fail("npm is not installed: tools/setup.sh test")
        package = {"name": "theirs", "version": "1.0.0", "scripts": {"test": "node -e 0"}}
        lock = {"name": "theirs", "version": "1.0.0", "lockfileVersion": 3, "requires": True, "packages": {"": {"name": "theirs", "version": "1.0.0"}}}
        commit = self.committed(package__json=json.dumps(package), **{"package-lock__json": json.dumps(lock)})
        sarif = self.dir / "out.sarif"
        done = self.sallyport("validate", self.repo, "--registry", "registry.example", "--no-cache", "--sarif", sarif)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.check_log()
        statement = self.attested("last-job", "test-result")
        self.assertEqual(statement["predicateType"], TEST_RESULT)
        digests = {subject["name"]: subject["digest"] for subject in statement["subject"]}
        self.assertEqual(digests[str(self.repo)], {"gitCommit": commit, "gitTree": self.git("rev-parse", f"{commit}^{{tree}}")})
        self.assertEqual(digests["out.sarif"], {"sha256": hashlib.sha256(sarif.read_bytes()).hexdigest()})
        self.assertEqual(statement["predicate"]["result"], "PASSED")
        self.assertEqual(statement["predicate"]["passedTests"], ["lock", "fetch", "test"])
        tools = [run["tool"] for run in self.attested("last-job", "receipt")["predicate"]["runs"]]
        self.assertEqual(set(tools), {"npm"})
        package["scripts"]["test"] = "node -e 'process.exit(3)'"
        (self.repo / "package.json").write_text(json.dumps(package))
        self.assertEqual(self.sallyport("validate", self.repo, "--registry", "registry.example", "--no-cache").returncode, 1)
        failed = self.attested("last-job", "test-result")["predicate"]
        self.assertEqual((failed["result"], failed["failedTests"]), ("FAILED", ["test"]))


if __name__ == "__main__":
    main()
