"""The log of the built program: what is recorded, where, and what is refused for its sake (C33)."""
import json
import os
import subprocess

import jsonschema

import independent
from audit_case import SALLYPORT, SOURCE, AuditCase, main

SCHEMA = jsonschema.Draft202012Validator(json.loads((SOURCE / "docs/audit.schema.json").read_text()))


class Records(AuditCase):
    def test_every_call_leaves_records_that_fit_the_published_schema(self) -> None:
        self.assertEqual(self.run_tool("echo", "hello").returncode, 0)
        self.assertEqual(self.run_tool("sh", "-c", "exit 3").returncode, 3)
        self.assertEqual(self.run_tool("bash", "-c", "true").returncode, 125)  # not in the set
        self.assertEqual(self.run_tool("echo", options=("--cwd", "/")).returncode, 125)
        self.assertEqual(self.run_tool("echo", options=("--timeout", "0s")).returncode, 125)
        self.assertEqual(self.run_tool("sh", "-c", "sleep 9", options=("--timeout", "200ms")).returncode, 124)
        self.policy.write_text("nonsense")
        self.assertEqual(self.run_tool("echo").returncode, 125)
        for line in self.lines():
            SCHEMA.validate(json.loads(line))
        self.assertEqual(independent.chain_problem(self.lines()), "")
        records = self.records()
        outcomes = [r["outcome"]["outcome"] if r["kind"] == "result" else r["error"]["kind"] for r in records if r["kind"] != "intent"]
        self.assertEqual(outcomes, ["completed", "completed", "disallowed_subprocess", "invalid_request", "invalid_request", "timed_out",
                                    "policy_error"])
        self.assertEqual(self.audit_json("verify")["whole"], True)
        self.assertEqual(self.audit_json("verify")["open_intents"], 0)

    def test_a_refusal_at_the_gates_opening_and_of_a_workspace_is_a_record(self) -> None:
        few = f'ulimit -n 40; exec "$0" run --jail none --policy {self.policy} --repo {self.repo} -- echo'
        done = subprocess.run(["sh", "-c", few, SALLYPORT], env=self.env, cwd=self.repo, capture_output=True, check=False)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn(b"ulimit -n", done.stderr)
        bad_name = ("run", "--repo", self.repo, "--workspace", "-bad", "--", "git", "status")
        self.assertEqual(self.sallyport(*bad_name).returncode, 125)
        for line in self.lines():
            SCHEMA.validate(json.loads(line))
        refusals = [record for record in self.records() if record["kind"] == "refusal"]
        self.assertEqual([record["tool"] for record in refusals], ["echo", "git"])
        intent = [record for record in self.records() if record["kind"] == "intent"][-1]
        self.assertEqual((intent["run"], intent["request"]["argv"]), (refusals[1]["run"], ["git", "status"]))

    def test_what_the_caller_lacks_is_refused_by_the_gate_once_the_call_is_admitted_C36(self) -> None:
        kept = self.dir / "layers"
        bad_place, workspace = ("--receipt", self.dir / "nowhere/receipt"), ("--workspace", "w", "--workspace-dir", kept)
        for options, tool, why in ((bad_place, "bash", "disallowed_subprocess"), (bad_place, "git", "invalid_request"),
                                   (workspace, "bash", "disallowed_subprocess"), (("--workspace", "-bad"), "git", "invalid_request"),
                                   (("--workspace", "-bad"), "bash", "disallowed_subprocess")):
            with self.subTest(options=options, tool=tool):
                done = self.sallyport("run", "--repo", self.repo, *options, "--", tool, "--version")
                self.assertEqual(done.returncode, 125, done.stderr)
                record = self.records()[-1]
                self.assertEqual((record["kind"], record["error"]["kind"], record["tool"]), ("refusal", why, tool))
                self.assertIsNotNone(record["policy_digest"])
                self.assertFalse(kept.exists())
                explained = self.sallyport("explain", "--json", "--repo", self.repo, *options, "--", tool, "--version")
                if options != bad_place:
                    self.assertEqual(json.loads(explained.stdout)["error"]["kind"], why)
        done = self.sallyport("run", "--repo", self.repo, "--receipt", self.dir / "receipt", *workspace, "--", "git", "--version")  # the control
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(kept.exists() and (self.dir / "receipt").exists())

    def test_what_the_gate_does_not_admit_of_hosts_and_limits_is_a_record_C36(self) -> None:
        wrong = {"every host": ("--allow-host", "*"), "an address": ("--allow-host", "192.0.2.1"), "a top-level domain": ("--allow-host", "*.test"),
                 "the metadata": ("--allow-host", "h.test,class=metadata"), "no file": ("--nofile", "0"),
                 "no HTTP proxy": ("--via-proxy", "ftp://me:hunter2@x.test"), "no proxy's port": ("--via-proxy", "http://x.test:0")}
        for what, options in wrong.items():
            with self.subTest(what):
                before = len(self.lines()) if self.log.exists() else 0
                done = self.run_tool("sh", "-c", "touch ran", options=options)
                self.assertEqual(done.returncode, 125, done.stderr)
                record = self.records()[-1]
                self.assertGreater(len(self.lines()), before)
                self.assertEqual((record["kind"], record["error"]["kind"], record["tool"]), ("refusal", "invalid_request", "sh"))
                self.assertIn(b"hint: ", done.stderr)
                self.assertNotIn("hunter2", json.dumps(record))
                SCHEMA.validate(record)
                self.assertFalse((self.repo / "ran").exists())
        self.assertEqual(self.run_tool("sh", "-c", "touch ran", options=("--nofile", "64")).returncode, 0)  # the control
        self.assertTrue((self.repo / "ran").exists())

    def test_a_linked_worktree_has_its_own_commit(self) -> None:
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
        run = lambda *args, cwd: subprocess.run([*git, *args], cwd=cwd, check=True, capture_output=True, text=True).stdout.strip()
        run("init", "-q", cwd=self.repo)
        run("commit", "-q", "--allow-empty", "-m", "one", cwd=self.repo)
        tree = self.dir / "tree"
        run("worktree", "add", "-q", "-b", "topic", str(tree), cwd=self.repo)
        run("commit", "-q", "--allow-empty", "-m", "two", cwd=tree)
        done = self.sallyport("run", "--repo", tree, "--", "git", "rev-parse", "HEAD", cwd=tree)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.records()[0]["request"]["commit"], done.stdout.decode().strip())
        self.assertNotEqual(self.records()[0]["request"]["commit"], run("rev-parse", "HEAD", cwd=self.repo))

    def test_the_schema_refuses_what_is_no_record(self) -> None:  # the control
        self.run_tool("echo")
        record = self.records()[1]
        SCHEMA.validate(record)
        for change in ({"kind": "other"}, {"hash": "x"}, {"surprise": 1}, {"outcome": {}}):
            self.assertFalse(SCHEMA.is_valid({**record, **change}), change)

    def test_records_have_the_later_members_and_the_schema_takes_older_records_without_them(self) -> None:
        self.run_tool("echo")
        self.run_tool("bash")
        for record in self.records():
            for part, names in (("request", ("weakened", "workspace")), ("error", ("tool_may_have_started",))):
                for name in names if part in record else ():
                    with self.subTest(kind=record["kind"], member=name):
                        older = {**record, part: {key: value for key, value in record[part].items() if key != name}}
                        self.assertNotEqual(older, record)
                        SCHEMA.validate(older)
        self.assertEqual([record["kind"] for record in self.records() if "error" in record], ["refusal"])

    def test_a_run_says_its_id_in_json(self) -> None:
        done = self.run_tool("echo", options=("--json",))
        self.assertEqual(json.loads(done.stdout)["audit_run"], self.records()[0]["run"])

    def test_the_log_is_the_owners_alone(self) -> None:
        self.run_tool("echo")
        for path in (self.log, *self.log.iterdir()):
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)

    def test_secrets_of_the_command_line_are_not_in_it(self) -> None:
        secret = "hunter2-Xy77"
        self.run_tool("echo", "--password", secret, f"https://me:{secret}@host.example/", "-H", f"Authorization: Bearer {secret}",
                      options=("--env", f"MY_TOKEN={secret}"))
        text = b"".join(path.read_bytes() for path in self.log.iterdir() if path.is_file())
        self.assertNotIn(secret.encode(), text)
        self.assertIn(b"host.example", text)  # the control
        self.assertIn(b"MY_TOKEN", text)

    def test_a_killed_program_leaves_an_open_intent(self) -> None:
        ready = self.repo / "ready"
        os.mkfifo(ready)
        process = subprocess.Popen([SALLYPORT, "run", "--jail", "none", "--policy", self.policy, "--", "sh", "-c", f"echo > {ready}; sleep 60"],
                                   env=self.env, cwd=self.repo, stdin=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        ready.read_bytes()
        process.kill()
        process.wait()
        found = self.audit_json("verify")
        self.assertTrue(found["whole"])
        self.assertEqual(found["open_runs"], [self.records()[0]["run"]])
        self.assertIn(b" open ", self.audit("show").stdout)


class Place(AuditCase):
    def test_no_audit_leaves_no_log(self) -> None:
        self.assertEqual(self.run_tool("echo", options=("--no-audit",)).returncode, 0)
        self.assertFalse(self.log.exists())
        self.assertEqual(self.run_tool("echo").returncode, 0)
        self.assertTrue(self.log.exists())  # the control

    def test_a_policy_can_forbid_to_go_without(self) -> None:
        self.write_policy('audit = "required"\n')
        done = self.run_tool("sh", "-c", "touch ran", options=("--no-audit",))
        self.assertEqual(done.returncode, 125)
        self.assertIn(b"requires an audit log", done.stderr)
        self.assertFalse((self.repo / "ran").exists())
        self.assertEqual(self.run_tool("sh", "-c", "touch ran").returncode, 0)
        self.assertTrue((self.repo / "ran").exists())
        self.write_policy('audit = "maybe"\n')
        self.assertIn(b"unknown value 'maybe'", self.run_tool("echo").stderr)

    def test_a_missing_home_is_not_made_and_is_said(self) -> None:
        del self.env["XDG_STATE_HOME"]
        missing = self.dir / "nonexistent"
        self.env["HOME"] = str(missing)
        done = self.run_tool("echo", "x")
        self.assertEqual((done.returncode, done.stdout), (0, b"x\n"))
        self.assertIn(b"warning: no audit log", done.stderr)
        self.assertFalse(missing.exists())
        self.write_policy('audit = "required"\n')
        self.assertEqual(self.run_tool("echo", "x").returncode, 125)
        self.env["HOME"] = str(self.home)
        self.assertEqual(self.run_tool("echo", "x").stderr, b"")
        self.assertTrue((self.home / ".local/state/sallyport/audit/head").exists())

    def everything(self) -> list[str]:
        return sorted(str(path) for path in self.dir.rglob("*"))

    def refused_without_a_trace(self, why: bytes, *args, code: int = 125, **how) -> None:
        """The place is judged first: not a file is made, there or anywhere."""
        before = self.everything()
        done = self.sallyport(*args, **how)
        self.assertEqual((done.returncode, done.stdout), (code, b""), done.stderr)
        self.assertIn(why, done.stderr)
        self.assertEqual(self.everything(), before)

    def test_in_the_repo_or_below_a_writable_path_is_refused_before_anything_is_made(self) -> None:
        run = ("run", "--jail", "none", "--policy", self.policy, "--repo", self.repo)
        tool = ("--", "sh", "-c", "touch ran")
        (self.repo / "deep").mkdir()
        (self.dir / "link").symlink_to(self.repo / "deep")
        in_repo = b"lies in the analysed repo"
        for inside in (self.repo / "log", self.repo / "deep/log", self.dir / "link/log", self.dir / "home/../repo/log", "log", self.dir):
            self.refused_without_a_trace(in_repo, *run, "--audit", inside, *tool)
        # --audit-may-fail does not allow this place, and a refusal for another reason is not written there either.
        self.refused_without_a_trace(in_repo, *run, "--audit", self.repo / "log", "--audit-may-fail", *tool)
        self.refused_without_a_trace(in_repo, *run, "--audit", self.repo / "log", "--", "no-such-tool")
        self.refused_without_a_trace(in_repo, *run, *tool, env={**self.env, "XDG_STATE_HOME": str(self.repo)})
        writable = self.dir / "writable"
        writable.mkdir()
        below = b"below a path that the tool may write"
        self.refused_without_a_trace(below, *run, "--audit", writable / "log", "--rw", writable, *tool)
        elsewhere = self.dir / "elsewhere"  # the control
        self.assertEqual(self.sallyport(*run, "--audit", elsewhere, "--rw", writable, *tool).returncode, 0)
        self.assertTrue((self.repo / "ran").exists())
        self.assertEqual(len(self.records(elsewhere)), 2)

    def test_a_job_judges_the_place_first_too(self) -> None:
        (self.repo / "a.py").write_text("print(1)\n")
        for verb in (("probe", "rg_curated"), ("lint",), ("validate",)):
            self.refused_without_a_trace(b"lies in the analysed repo", *verb, self.repo, "--audit", self.repo / "log", code=2)
        kept = self.state / "sallyport/workspaces"
        kept.mkdir(mode=0o700, parents=True)
        self.refused_without_a_trace(b"where workspaces are kept", "validate", self.repo, "--audit", kept / "log", code=2)
        self.assertEqual(self.sallyport("probe", "rg_curated", self.repo, "--audit", self.dir / "apart").returncode, 0)  # the control
        self.assertEqual(self.records(self.dir / "apart")[-1]["kind"], "job")

    def test_where_a_workspace_keeps_what_is_written_is_refused(self) -> None:
        for directory, log in ((self.dir / "layers", self.dir / "layers/log"), (self.dir / "logs/layers", self.dir / "logs")):
            for place in (directory.parent, log.parent):
                place.mkdir(mode=0o700, exist_ok=True)
            run = ("run", "--repo", self.repo, "--workspace", "w", "--workspace-dir", directory, "--audit")
            self.refused_without_a_trace(b"where workspaces are kept", *run, log, "--", "git", "init", "ran")
            done = self.sallyport(*run, self.dir / "apart", "--", "git", "--version")  # the control
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_open_to_others_is_refused(self) -> None:
        self.run_tool("echo")
        self.log.chmod(0o755)
        done = self.run_tool("sh", "-c", "touch ran")
        self.assertEqual(done.returncode, 125)
        self.assertIn(b"chmod 700", done.stderr)
        self.assertFalse((self.repo / "ran").exists())

    def test_of_somebody_else_is_refused(self) -> None:
        if os.geteuid() != 0:
            self.skipTest("only root can give a file away")
        self.run_tool("echo")
        os.chown(self.log, 65534, 65534)
        done = self.run_tool("echo")
        self.assertEqual(done.returncode, 125)
        self.assertIn(b"owned by uid 65534", done.stderr)

    def in_mount(self, kind: str, options: str, script: str) -> subprocess.CompletedProcess:
        """A shell in a mount namespace of its own, where `state` is another file system."""
        if os.geteuid() != 0:
            self.skipTest("only root can mount")
        run = f'"$SALLYPORT" run --jail none --policy {self.policy} --repo {self.repo}'
        text = f"mount -t {kind} -o {options} {kind} {self.state}\n" + script.replace("RUN", run)
        return subprocess.run(["unshare", "-m", "sh", "-ec", text], env={**self.env, "SALLYPORT": SALLYPORT}, cwd=self.repo,
                              capture_output=True, timeout=120, check=False)

    def test_on_a_full_disk_new_runs_are_refused_unless_told_otherwise(self) -> None:
        done = self.in_mount("tmpfs", "size=8m", f"RUN -- echo before\nhead -c 7m /dev/zero > {self.state}/fill || true\n"
                             f"RUN -- sh -c 'touch refused' && exit 9\nRUN --audit-may-fail -- sh -c 'touch went-on'\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"no space left on device", done.stderr.lower())
        self.assertFalse((self.repo / "refused").exists())
        self.assertTrue((self.repo / "went-on").exists())
        self.assertIn(b"warning: no audit log", done.stderr)

    def test_on_a_read_only_file_system_runs_are_refused(self) -> None:
        done = self.in_mount("tmpfs", "size=8m", f"RUN -- echo before\nmount -o remount,ro {self.state}\nRUN -- sh -c 'touch ran' && exit 9\n"
                             f"\"$SALLYPORT\" audit verify\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"read-only file system", done.stderr.lower())
        self.assertIn(b"whole: 2 records", done.stdout)
        self.assertFalse((self.repo / "ran").exists())


class Reading(AuditCase):
    def test_verify_names_the_first_bad_record_by_file_and_line(self) -> None:
        for number in range(4):
            self.run_tool("echo", str(number))
        file = self.log / "audit-0000000000000001.jsonl"
        whole = file.read_bytes()
        file.write_bytes(whole.replace(b'"argv":["echo","2"]', b'"argv":["echo","5"]'))
        done = self.audit("verify", code=1)
        self.assertIn(b"audit-0000000000000001.jsonl:5: record 5: its hash does not fit its bytes", done.stdout)
        self.assertEqual(self.audit_json("verify", code=1)["problem"]["line"], 5)
        file.write_bytes(b"".join(whole.splitlines(keepends=True)[:-2]))
        self.assertIn(b"cut off the end", self.audit("verify", code=1).stdout)
        self.assertEqual(self.run_tool("echo").returncode, 125)  # a log that lost records takes no new ones
        file.write_bytes(whole)
        self.audit("verify")

    def test_show_filters_and_stats_add_up(self) -> None:
        self.run_tool("echo", "one")
        self.run_tool("false")
        self.run_tool("bash")
        self.assertEqual(len(self.audit("show").stdout.splitlines()), 3)
        self.assertEqual(len(self.audit("show", "--tool", "false").stdout.splitlines()), 1)
        self.assertIn(b"echo one", self.audit("show", "--outcome", "completed").stdout)
        self.assertEqual(len(self.audit("show", "--outcome", "refusal").stdout.splitlines()), 1)
        self.assertEqual(self.audit("show", "--since", "2099-01-01").stdout, b"")
        self.assertEqual(len(self.audit("show", "--since", "1h", "--repo", self.repo).stdout.splitlines()), 3)
        self.assertEqual(len(self.audit("show", "--json").stdout.splitlines()), 6)
        stats = self.audit_json("stats")
        self.assertEqual(stats["outcomes"], {"completed": 2, "refusal": 1})
        self.assertEqual(stats["calls"], 3)
        self.assertIn(b"###", self.audit("stats").stdout)

    def test_show_follows_what_is_appended(self) -> None:
        self.run_tool("echo", "first")
        process = subprocess.Popen([SALLYPORT, "audit", "show", "--follow"], env=self.env, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.assertIn(b"first", process.stdout.readline())
        self.assertIn(b"first", process.stdout.readline())
        self.run_tool("echo", "second")
        self.assertIn(b"second", process.stdout.readline())
        process.terminate()

    def test_hostile_text_reaches_no_terminal_alive(self) -> None:
        hostile = ["\x1b]0;x\x07\x1b[2J", "\u202ebidi\u2028", "</script><script>", "a\nb", b"\xff\xfe", "n" * 100000]
        self.run_tool("echo", *hostile)
        for line in self.lines():
            self.assertTrue(all(32 <= byte < 127 for byte in line))
        for word in ("show", "stats", "verify"):
            text = self.audit(word).stdout
            self.assertTrue(all(byte == 10 or 32 <= byte < 127 for byte in text), text)
        page = self.dir / "page.html"
        self.audit("report", "-o", page)
        data = page.read_text().split('id="data">')[1].split("</script>")[0]
        self.assertNotIn("<", data)
        self.assertIn("\\u003c/script\\u003e", data)

    def test_wrong_usage_is_said_with_a_hint(self) -> None:
        for args in ((), ("nonsense",), ("show", "--tool"), ("prove",), ("attest", "last"), ("report",), ("keygen",), ("verify", "extra"),
                     ("verify", "--dir", self.dir / "nowhere"), ("prove", "999"), ("show", "--since", "soon")):
            done = self.sallyport("audit", *args)
            self.assertEqual(done.returncode, 125, args)
            self.assertIn(b"hint: ", done.stderr, args)


if __name__ == "__main__":
    main()
