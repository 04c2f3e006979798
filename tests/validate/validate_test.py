#!/usr/bin/python3
"""validate over honest and hostile projects, with a real registry on loopback (C23-C25, C27, C32, C34, C37).

  usage: validate_test.py --sallyport PROGRAM --npm NODE_MODULES [TEST ...]

Each deny test has its positive control: the same project with a bare npm.
"""

import json
import os
import subprocess
import sys
import tarfile

import registry
from strangers import ATTACK, WORKER_TEST
from validate_case import SOMEBODY, ValidateTest, main


def publish(store):
    store.publish("dep-a", files={"index.js": "module.exports = 'a';\n", "run.js": "#!/usr/bin/env node\nconsole.log('ran')\n"},
                  main="index.js", bin={"dep-a-program": "run.js"}, dependencies={"dep-b": "^1.0.0"})
    store.publish("dep-b", files={"index.js": "module.exports = 'b';\n"})
    store.publish("dep-dev", files={"index.js": "module.exports = 41;\n"})
    store.publish("@scope/pkg", files={"index.js": "module.exports = 's';\n"})
    script = "require('fs').writeFileSync('built.txt', 'built'); try { require('fs').writeFileSync('../../canary-install', 'x') } catch {}\n"
    store.publish("dep-script", files={"install.js": script}, scripts={"postinstall": "node install.js"})
    store.publish("dep-other-script", files={"install.js": script}, scripts={"postinstall": "node install.js"})
    up = tarfile.TarInfo("package/../../../escaped.txt")
    link = tarfile.TarInfo("package/link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc"
    through = tarfile.TarInfo("package/link/sallyport-escaped")
    store.publish("dep-escapes", files={"index.js": ""}, extra=[(up, b"out"), (link, b""), (through, b"out")])
    store.publish("dep-node", files={"evil.js": "#!/bin/sh\ntouch fired-by-bin\nexec /usr/bin/node \"$@\"\n"}, bin={"node": "evil.js"})


class Honest(ValidateTest):
    def make(self):
        self.package(dependencies={"dep-a": "^1.0.0"}, devDependencies={"dep-dev": "1.0.0"}, workspaces=["packages/*"],
                     scripts={"pretest": "touch made-by-pretest && dep-a-program", "test": "node test.js",
                              "posttest": "node -e \"require('w')\""})
        self.write("test.js", WORKER_TEST)
        self.package(self.repo / "packages/w", name="w", main="w.js", dependencies={"@scope/pkg": "1.0.0"})
        self.write("packages/w/w.js", "require('fs').writeFileSync('posttest', require('@scope/pkg'))\n")

    def test_passes_with_dependencies_workspaces_pretest_and_worker_processes_C32(self):
        self.make()
        record = self.validate()
        self.assertEqual(record["verdict"], "passed", json.dumps(record, indent=1)[-3000:])
        states = {stage["name"]: stage["state"] for stage in record["stages"]}
        self.assertEqual(states, {"lock": "passed", "fetch": "passed", "build": "skipped", "test": "passed"})
        self.assertIn("from a child: a, from a thread: 42", self.stage(record, "test")["steps"][0]["stdout_tail"])
        paths = {change["path"] for change in record["changes"]}
        for path in ("coverage.json", "posttest", "package-lock.json", "node_modules/dep-a/index.js"):
            self.assertIn(path, paths)
        self.assertEqual(record["cache"]["added"], 4)
        for stage in ("fetch", "test"):
            step = self.stage(record, stage)["steps"][0]
            names = {entry["name"] for entry in step["receipt"]["guarantees"]}
            self.assertIn("fs.repo_untouched", names)
        self.assert_cache_is_sound()

    def test_downloads_nothing_the_second_time_and_two_at_once_do_not_mix_C32(self):
        self.depend_on("dep-b", "dep-dev", scripts={"test": "node -p \"require('dep-b')\""})
        counting = registry.Counting(self.registry.target)
        self.addCleanup(counting.stop)
        first = self.validate(target=counting.target)
        self.assertEqual(first["verdict"], "passed", first)
        self.assertTrue(any(path.endswith(".tgz") for path in counting.heard), "the control: the first one downloads")
        counting.heard.clear()
        second = self.validate(target=counting.target)
        self.assertEqual((second["verdict"], second["cache"]["cached"], second["cache"]["added"]), ("passed", 2, 0))
        self.assertEqual(counting.heard, [])
        self.assert_cache_is_sound()
        both = [subprocess.Popen(self.command("--json"), cwd=self.base, env=self.environment(), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, text=True) for _ in range(2)]
        records = [json.loads(one.communicate(timeout=240)[0]) for one in both]
        self.assertEqual([record["verdict"] for record in records], ["passed", "passed"])
        self.assert_nothing_left()

    def test_builds_only_the_packages_named(self):
        self.depend_on("dep-script", "dep-other-script", scripts={"test": "test -f node_modules/dep-script/built.txt"})
        record = self.validate("--allow-scripts", "dep-script")
        self.assertEqual(record["verdict"], "passed", record)
        paths = {change["path"] for change in record["changes"]}
        self.assertIn("node_modules/dep-script/built.txt", paths)
        self.assertNotIn("node_modules/dep-other-script/built.txt", paths)

    def test_says_what_npm_does_not_install(self):
        self.package()
        self.write("pnpm-lock.yaml", "lockfileVersion: '9.0'\n")
        record = self.validate()
        self.assertEqual((record["verdict"], record["exit_code"]), ("not_npm", 2))
        self.assertIn("pnpm", record["why"])

    def test_fails_with_the_stage_when_the_test_fails(self):
        self.package(scripts={"test": "echo seen && exit 3"})
        self.lock({})
        record = self.validate()
        self.assertEqual((record["verdict"], record["stage"], record["exit_code"]), ("failed", "test", 1))
        self.assertIn("seen", self.stage(record, "test")["steps"][0]["stdout_tail"])

    def test_keeps_a_cooldown(self):
        self.depend_on("dep-b")
        young = self.validate("--min-age", "3d")
        self.assertEqual((young["verdict"], young["stage"]), ("failed", "lock"))
        self.assertIn("lock-too-young", self.rules(young))
        self.assertEqual(self.validate("--min-age", "0d")["verdict"], "passed")


class HonestAsAPlainUser(Honest):
    user = SOMEBODY

    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("the tests run as a plain user already")
        super().setUp()

    test_keeps_a_cooldown = test_says_what_npm_does_not_install = test_fails_with_the_stage_when_the_test_fails = None
    test_downloads_nothing_the_second_time_and_two_at_once_do_not_mix_C32 = test_builds_only_the_packages_named = None


class Hostile(ValidateTest):
    def test_runs_no_install_script_C25_C34(self):
        self.depend_on("dep-script", scripts={"test": "true", "postinstall": "touch canary-project"})
        record = self.validate()
        self.assertEqual(record["verdict"], "passed", record)
        self.assertIn("lock-install-script", self.rules(record))
        paths = {change["path"] for change in record["changes"]}
        self.assertIn("node_modules/dep-script/install.js", paths)
        self.assertFalse(paths & {"canary-project", "canary-install", "node_modules/dep-script/built.txt"})
        control = self.bare_npm("ci")
        self.assertEqual(control.returncode, 0, control.stderr)
        self.assertTrue((self.base / "bare/canary-project").exists() and (self.base / "bare/canary-install").exists())

    def test_cannot_read_secrets_reach_the_network_or_touch_the_repo_C34(self):
        listener = registry.Listener()
        self.addCleanup(listener.stop)
        secret = self.write(".ssh/id_rsa", "the-host's-secret", self.home)
        canary = self.base / "canary"
        self.write("README.md", "theirs\n")
        self.package(scripts={"test": "node attack.js"})
        self.lock({})
        self.write("attack.js", ATTACK.replace("@SECRET@", json.dumps(str(secret))).replace("@CANARY@", json.dumps(str(canary)))
                   .replace("@PORT@", str(listener.port)))
        record = self.validate()
        self.assertEqual(listener.heard, 0)
        self.assertFalse(canary.exists())
        text = json.dumps(record)
        for secret_text in ("the-host's-secret", "token-of-the-caller"):
            self.assertNotIn(secret_text, text)
        self.assertIn(record["verdict"], ("denied", "failed"))
        said = self.stage(record, "test")["steps"][0]["stdout_tail"]
        self.assertIn("repo: changed", said)  # in the workspace
        changes = {change["path"]: change["change"] for change in record["changes"]}
        self.assertEqual((changes["README.md"], changes["touched"]), ("deleted", "created"))
        self.assertTrue({".husky/pre-commit", ".vscode/tasks.json"} <= {found["path"] for found in record["persistence"]}, record)
        control = self.bare("npm", "test")
        self.assertIn("the-host's-secret", control.stdout)
        self.assertIn("token-of-the-caller", control.stdout)
        self.assertIn("network: connected", control.stdout)
        self.assertTrue(canary.exists() and listener.heard > 0)

    def test_names_an_option_only_where_one_would_help(self):
        self.package(scripts={"test": "node -e \"require('dns').lookup('asked-for.test', () => {})\""})
        self.lock({})
        said = self.said()
        self.assertIn("denied asked-for.test", said)
        self.assertNotIn("--allow-host", said)
        record = self.validate()
        self.assertEqual({denial["hint"] for denial in self.stage(record, "test")["steps"][0]["denials"]}, {""})
        self.assertEqual(self.stage(record, "build")["why"], "no --allow-scripts")
        self.package(dependencies={"@scope/pkg": "1.0.0"})
        self.write(".npmrc", "@scope:registry=http://elsewhere.test:4873/\n")
        (self.repo / "package-lock.json").unlink()
        said = self.said()
        self.assertIn("denied elsewhere.test", said)
        self.assertIn("--allow-host elsewhere.test", said)

    def test_does_not_pass_signatures_it_could_not_check(self):
        self.depend_on("dep-b")
        record = self.validate("--signatures")
        self.assertIn(record["verdict"], ("denied", "incomplete"), record)
        fetch = self.stage(record, "fetch")
        self.assertIn("signatures could not be checked", fetch["why"])
        self.assertEqual(self.stage(record, "test")["state"], "skipped")
        self.assertEqual(self.validate()["verdict"], "passed")

    def test_is_ended_by_its_limits_C20(self):
        def limited(test, *args):
            self.package(scripts={"test": test})
            self.lock({})
            record = self.validate(*args)
            self.assertEqual((record["verdict"], record["stage"], record["exit_code"]), ("limited", "test", 1), record)
            return self.stage(record, "test")["steps"][0]["outcome"]

        self.assertEqual(limited("node -e 'setInterval(() => {}, 1000)'", "--timeout", "6s"), "timed_out")
        disk = "node -e \"for (let i = 0; ; ++i) require('fs').writeFileSync('bomb' + i, Buffer.alloc(1 << 22))\""
        self.assertEqual(limited(disk, "--disk", "64M"), "disk_quota_exceeded")
        if os.geteuid() == 0:
            memory = "node --max-old-space-size=8192 -e \"const all = []; for (;;) all.push(Buffer.alloc(1 << 24, 1))\""
            self.assertEqual(limited(memory, "--memory", "512M"), "oom_killed")

    def test_is_denied_the_host_of_an_npmrc_or_a_lock_file_C24_C34(self):
        listener = registry.Listener()
        self.addCleanup(listener.stop)
        self.package(dependencies={"@scope/pkg": "1.0.0"})
        self.write(".npmrc", "@scope:registry=http://elsewhere.test:4873/\n")
        record = self.validate()
        self.assertEqual((record["verdict"], record["stage"]), ("denied", "lock"), record)
        step = self.stage(record, "lock")["steps"][0]
        self.assertEqual((step["outcome"], step["evidence"]["host"]), ("network_denied", "elsewhere.test"))
        self.assertIn("--allow-host elsewhere.test", {denial["hint"].split(":")[0] for denial in step["denials"]})
        # The control: without that file the same project installs.
        (self.repo / ".npmrc").unlink()
        self.package(dependencies={"@scope/pkg": "1.0.0"}, scripts={"test": "true"})
        self.assertEqual(self.validate()["verdict"], "passed")
        # A lock file that points to a service of the host.
        self.depend_on("dep-b")
        self.lock({"dep-b": registry.locked("dep-b", self.registry.tarballs["dep-b"], host=listener.target)},
                  dependencies={"dep-b": "1.0.0"})
        record = self.validate()
        self.assertIn(record["verdict"], ("denied", "failed"))
        self.assertIn("lock-foreign-host", self.rules(record))
        self.assertEqual(self.stage(record, "test")["state"], "skipped")
        self.assertEqual(listener.heard, 0)
        self.assertFalse(self.is_cached("dep-b"))
        self.assertTrue(self.is_cached("@scope/pkg"), "the control: the honest fetch before was")

    def test_takes_no_git_dependency_whatever_its_npmrc_says_C25_C34(self):
        canary = self.base / "canary"
        dependency = self.base / "dependency"
        evil = self.write("evil", f"#!/bin/sh\ntouch {canary}\nexit 1\n", dependency)
        evil.chmod(0o755)
        self.package(dependency, name="x", workspaces=["w"], devDependencies={"y": "git+https://host.test/y.git"})
        self.package(dependency / "w", name="w")
        self.write(".npmrc", f"git={evil}\n", dependency)
        for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
            subprocess.run(["git", *words], cwd=dependency, check=True)
        self.package(dependencies={"x": f"git+file://{dependency}"}, scripts={"test": "true"})
        record = self.validate()
        self.assertIn(record["verdict"], ("failed", "denied"))
        self.assertFalse(canary.exists())
        self.bare_npm("install", "--ignore-scripts")
        self.assertTrue(canary.exists(), "the control: with a bare npm it runs")

    def test_unpacks_a_tarball_that_climbs_nowhere_else(self):
        self.depend_on("dep-escapes")
        record = self.validate()
        self.assertFalse(os.path.exists("/etc/sallyport-escaped"))
        self.assertFalse((self.base / "escaped.txt").exists())
        paths = {change["path"] for change in record["changes"]}
        self.assertIn("node_modules/dep-escapes/index.js", paths)

    def test_names_a_package_whose_program_is_called_node(self):
        data = self.registry.tarballs["dep-node"]
        self.package(dependencies={"dep-node": "1.0.0"}, scripts={"test": "node -p 1"})
        self.lock({"dep-node": registry.locked("dep-node", data, bin={"node": "evil.js"})}, dependencies={"dep-node": "1.0.0"})
        record = self.validate()
        self.assertEqual((record["verdict"], record["stage"]), ("failed", "lock"))
        self.assertIn("lock-shadows-program", self.rules(record))
        # It runs, behind the jail and nowhere else: npm itself is found without it.
        self.assertIn("fired-by-bin", {change["path"] for change in record["changes"]})
        self.assertEqual(self.stage(record, "test")["state"], "passed")

    def test_never_caches_a_tarball_that_is_not_the_one_named(self):
        self.depend_on("dep-b", "dep-dev")

        def poison(path, data):
            return self.registry.tarballs["dep-dev"] if path.endswith("dep-b-1.0.0.tgz") else data

        poisoner = registry.Counting(self.registry.target, poison)
        self.addCleanup(poisoner.stop)
        record = self.validate(target=poisoner.target)
        self.assertEqual((record["verdict"], record["stage"]), ("failed", "fetch"), record)
        self.assertIn("EINTEGRITY", self.stage(record, "fetch")["steps"][0]["stderr_tail"])
        self.assertEqual(self.cache_files(), [])
        self.assert_cache_is_sound()
        self.assertEqual(self.validate()["verdict"], "passed", "the control: the honest registry")
        self.assertEqual(len(self.cache_files()), 2)
        self.assert_cache_is_sound()

    def test_waits_for_a_silent_registry_no_longer_than_it_may_C35(self):
        listener = registry.Listener()
        self.addCleanup(listener.stop)
        self.depend_on("dep-b")
        record = self.validate("--timeout", "6s", target=listener.target)
        self.assertEqual((record["verdict"], record["stage"]), ("limited", "fetch"), record)
        self.assertGreater(listener.heard, 0)


class Reports(ValidateTest):
    def test_writes_sarif_and_a_table(self):
        self.depend_on("dep-b", scripts={"test": "node -e \"console.log('\\x1b[31mred'); process.exit(1)\""})
        sarif = self.base / "out.sarif"
        done = subprocess.run(self.command("--sarif", sarif), cwd=self.base, env=self.environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("verdict: failed (test)", done.stdout)
        self.assertNotIn("\x1b", done.stdout)
        run = json.loads(sarif.read_text(encoding="utf-8"))["runs"][0]
        self.assertTrue(run["invocations"][0]["executionSuccessful"])
        self.assertIn("stage-not-passed", {result["ruleId"] for result in run["results"]})
        self.assertIn("name the host with --lock-host", sarif.read_text(encoding="utf-8"))
        known = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
        self.assertTrue({result["ruleId"] for result in run["results"]} <= known)

    def test_leaves_wrong_hosts_to_the_gate_C36(self):
        self.depend_on("dep-a")
        (self.home / "state").mkdir()  # else there is no place for a log
        for args in (["*.test"], ["*.a.test"], ["192.0.2.1"], ["a.test", "--allow-host", "*"]):
            done = subprocess.run([*self.command()[:4], *args, "--json"], cwd=self.base, env=self.environment(), capture_output=True,
                                  text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, json.loads(done.stdout)["verdict"]), (2, "incomplete"), (args, done.stderr))
            log = b"".join(file.read_bytes() for file in sorted((self.home / "state/sallyport/audit").glob("audit-*.jsonl")))
            self.assertEqual([json.loads(line)["kind"] for line in log.splitlines()][-2:], ["refusal", "job"], args)

    def test_refuses_wrong_usage_with_125(self):
        for args in (["--min-age", "soon"], ["--severity", "x"], ["--allow-scripts", "-x"], ["a", "b"]):
            done = subprocess.run([self.command()[0], "validate", *args], cwd=self.base, env=self.environment(),
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 125, (args, done.stderr))


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__], publish))
