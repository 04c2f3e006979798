"""The runtime trace as a user runs it. usage: trace_test.py --sallyport FILE --npm DIR SUITE"""

import json
import os
import sys

import standins
from job_case import JobTest, main


class RuntimeTrace(JobTest):
    """strace and node are the real ones; docker is a stand-in (the real one: tests/deep)."""

    APP = """
const fs = require("fs");
const quietly = (f) => { try { f(); } catch {} };
quietly(() => fs.writeFileSync("/etc/planted", "x"));
quietly(() => fs.readFileSync(require("os").homedir() + "/.ssh/id_rsa"));
quietly(() => require("child_process").spawnSync("/usr/bin/env", ["true"]));
fs.writeFileSync("/tmp/harmless", "x");
"""

    def traced(self, *args):
        scanners, code, done = self.probe("runtime_trace", *args)
        return scanners["runtime_trace"], code, done

    def listed(self, scanner, kind):
        return {item["name"] for item in scanner["inventory"] if item["kind"] == kind}

    def docker(self, mode):
        self.tool("docker", standins.DOCKER.replace("MODE", repr(mode), 1))
        self.write("Dockerfile", "FROM scratch\n")

    def docker_calls(self):
        return [json.loads(line) for line in (self.home / "docker.calls").read_text().splitlines()]

    def test_tells_programs_writes_secrets_and_hosts_of_the_start_command_C31(self):
        self.write("package.json", '{"scripts": {"start": "node app.js"}}')
        self.write("app.js", self.APP + 'require("dns").lookup("collector.test", () => {});')
        scanner, code, done = self.traced()
        self.assertEqual((scanner["outcome"], code), ("ran", 1), done.stdout)
        self.assertEqual({f["rule"] for f in scanner["findings"]}, {"trace-writes-outside", "trace-asks-for-secret", "trace-asks-for-host"})
        self.assertIn("/usr/bin/env", self.listed(scanner, "program"))
        self.assertLessEqual({"/etc/planted", "/tmp/harmless"}, self.listed(scanner, "write"))
        self.assertEqual(self.listed(scanner, "host"), {"collector.test"})
        self.assertFalse(os.path.exists("/etc/planted"))
        self.assertEqual(len(scanner["receipts"]), 1)

    def test_an_honest_program_is_clean_and_a_failing_one_is_traced_all_the_same_C31(self):
        self.write("package.json", '{"main": "lib.js"}')
        self.write("lib.js", "process.exitCode = 7; require('fs').readFileSync('package.json');")
        scanner, code, done = self.traced()
        self.assertEqual((scanner["outcome"], scanner["findings"], code), ("ran", [], 0), done.stdout)
        self.assertEqual(self.listed(scanner, "end"), {"exited with 7"})

    def test_a_server_is_traced_until_our_own_end(self):
        self.write("index.js", self.APP + "setInterval(() => {}, 1000);")
        self.write("package.json", "{}")
        scanner, code, done = self.traced()
        self.assertEqual((scanner["outcome"], code), ("ran", 1), done.stdout)

    def test_who_ends_or_reads_its_tracer_is_never_clean_C38(self):
        self.write("package.json", "{}")
        self.write("index.js", "process.kill(process.ppid, 'SIGKILL'); setTimeout(() => {}, 2000);")
        scanner, code, done = self.traced()
        self.assertNotEqual(code, 0, done.stdout)
        self.write("index.js", "require('fs').openSync('/proc/self/fd/2', 'r');")
        scanner, code, done = self.traced()
        self.assertIn("trace-reaches-for-tracer", {f["rule"] for f in scanner["findings"]}, done.stdout)

    def test_nothing_to_start_is_not_applicable(self):
        self.write("README", "words\n")
        scanner, code, _ = self.traced()
        self.assertEqual((scanner["outcome"], code), ("not_applicable", 0))

    def test_a_container_is_traced_and_nothing_of_it_stays_C31(self):
        self.docker("traced")
        scanner, code, done = self.traced()
        self.assertEqual((scanner["outcome"], code), ("ran", 1), done.stdout)
        self.assertEqual(self.listed(scanner, "way"), {"container"})
        self.assertEqual(self.listed(scanner, "write"), {"/etc/passwd"})
        calls = self.docker_calls()
        run = next(call for call in calls if call[0] == "run")
        for forced in ("--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges"):
            self.assertIn(forced, run)
        build = next(call for call in calls if call[0] == "build")
        self.assertIn("--network=none", build)
        self.assertEqual([call[0] for call in calls[-2:]], ["rm", "rmi"])

    def test_a_container_that_does_not_end_is_killed_and_its_trace_taken(self):
        self.docker("server")
        scanner, code, done = self.traced()
        self.assertEqual((scanner["outcome"], self.listed(scanner, "write"), code), ("ran", {"/etc/passwd"}, 1), done.stdout)
        self.assertEqual([call[0] for call in self.docker_calls()[-4:]], ["kill", "logs", "rm", "rmi"])

    def test_without_a_container_the_start_command_is_traced_and_says_why(self):
        self.write("package.json", "{}")
        self.write("index.js", "0")
        for mode, why in (("no_daemon", "docker does not answer"), ("no_build", "cannot be built offline"), ("no_strace", "has no strace")):
            with self.subTest(mode):
                self.docker(mode)
                scanner, code, done = self.traced()
                self.assertEqual((scanner["outcome"], code), ("ran", 0), done.stdout)
                self.assertIn(why, next(item["detail"] for item in scanner["inventory"] if item["kind"] == "way"))

    def test_a_dockerfile_that_nobody_could_start_is_not_clean_C38(self):
        self.docker("no_build")
        scanner, code, _ = self.traced()
        self.assertEqual((scanner["outcome"], code), ("scanner_failed", 2))


if __name__ == "__main__":
    sys.exit(main(globals()))
