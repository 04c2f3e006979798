"""Allowed hosts in jails whose network has no way out: gVisor and containers. Our init inside carries the connections (ADR 0107).

  usage: carried_test.py --sallyport FILE [unittest arguments]

InGvisor needs runsc; InPodman and InDocker need root and their engine (tools/setup.sh long). All traffic is this host's loopback.
"""

import argparse
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from carried_servers import MIB, SECRET, Bulk, Server, read_to_end, serve_echo, serve_http, serve_with_reset
from engines import Docker, Podman, copy_programs, processes_with, run, wait_until

ARGS = None
HERE = Path(__file__).resolve().parent
POLICY = 'schema = "sallyport.policy/1"\n[[tool]]\nname = "python3"\ndecision_record = "a test"\nreason = "a client"\n'


class Cases:
    @classmethod
    def setUpClass(cls):
        cls.dir = Path(tempfile.mkdtemp(prefix="sallyport-carried-", dir="/var/tmp"))
        cls.dir.chmod(0o755)
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        cls.repo = cls.dir / "repo"
        cls.repo.mkdir()
        shutil.copy(HERE / "carried_client.py", cls.repo / "client.py")
        (cls.dir / "policy.toml").write_text(POLICY, encoding="utf-8")
        cls.prepare()

    def command(self, deed, host, port, *options):
        return [str(word) for word in (ARGS.sallyport, "run", *self.jail(), "--repo", self.repo, "--policy", self.dir / "policy.toml",
                                       "--no-audit", "--json", "--timeout", "120s", *options, "--", "python3", "client.py", deed, host, port)]

    def record(self, deed, host, port, *options):
        done = run(*self.command(deed, host, port, *options), check=False, cwd=self.repo)
        try:
            return json.loads(done.stdout)
        except ValueError:
            self.fail(f"{deed}: {done.returncode} {done.stdout[-500:]} {done.stderr[-1000:]}")
        return None

    def reached(self, deed, server, *options, rule="web.test:{0}=127.0.0.1:{0}", port=None):
        """What the client said; nothing was denied."""
        said = self.record(deed, "web.test", port or server.port, "--allow-host", rule.format(server.port), *options)
        self.assertEqual((said.get("outcome"), said.get("exit_code")), ("completed", 0), said)
        self.assertEqual(said["denials"], [])
        return json.loads(said["stdout"])

    def denied(self, said, host):
        self.assertEqual(said.get("outcome"), "network_denied", said)
        self.assertEqual(said["denials"][0]["host"], host, said)

    def server(self, serve, **how):
        server = Server(serve, **how)
        self.addCleanup(server.close)
        return server

    def test_an_allowed_host_is_reached_and_the_receipt_says_how(self):
        web = self.server(serve_http)
        said = self.record("fetch", "web.test", web.port, "--allow-host", f"web.test:{web.port}=127.0.0.1:{web.port}",
                           "--require", "net.egress_allowlist")
        self.assertEqual(said.get("outcome"), "completed", said)
        self.assertEqual(json.loads(said["stdout"])["got"], SECRET)
        listed = {one["name"]: one["mechanism"] for one in said["receipt"]["guarantees"]}
        self.assertEqual(listed["net.egress_allowlist"], "network namespace, connections carried")
        self.assertNotIn("net.isolated", listed)

    def test_without_hosts_nothing_is_carried(self):
        web = self.server(serve_http)
        said = self.record("fetch", "web.test", web.port)
        self.assertNotEqual(said.get("exit_code"), 0, said)
        self.assertEqual(web.heard, 0)
        listed = {one["name"] for one in said["receipt"]["guarantees"]}
        self.assertIn("net.isolated", listed)
        self.assertNotIn("net.egress_allowlist", listed)

    def test_another_host_is_denied_by_its_name(self):
        web = self.server(serve_http)
        allow = ("--allow-host", f"web.test:{web.port}=127.0.0.1:{web.port}")
        self.denied(self.record("fetch", "other.test", web.port, *allow), "other.test")
        self.assertEqual(web.heard, 0)
        self.assertEqual(self.reached("fetch", web)["got"], SECRET)  # the control

    def test_an_address_that_nobody_looked_up_is_denied(self):
        web = self.server(serve_http)
        allow = ("--allow-host", f"web.test:{web.port}=127.0.0.1:{web.port}")
        for deed in ("by_address", "by_address_and_leave"):
            self.denied(self.record(deed, "web.test", web.port, *allow), "127.64.0.1")
        self.assertEqual(web.heard, 0)

    def test_another_host_header_is_denied(self):
        web = self.server(serve_http)
        rule = f"web.test=127.0.0.1:{web.port}"
        said = self.record("http_other", "web.test", 80, "--allow-host", rule)
        self.assertEqual(said["denials"][0]["host"], "other.test", said)
        self.assertNotIn(SECRET, said["stdout"])
        self.assertEqual(web.heard, 0)
        self.assertIn(SECRET, self.reached("http_same", web, rule=rule, port=80)["got"])  # the control

    def test_another_name_in_a_tls_hello_is_denied(self):
        key, certificate = self.dir / "key.pem", self.dir / "cert.pem"
        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj",
            "/CN=web.test")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        web = self.server(lambda sock: sock.sendall(sock.recv(100)), wrap=lambda sock: context.wrap_socket(sock, server_side=True))
        rule = f"web.test=127.0.0.1:{web.port}"
        self.denied(self.record("tls_other", "web.test", 443, "--allow-host", rule), "other.test")
        self.assertEqual(web.heard, 0)
        self.assertEqual(self.reached("tls_same", web, rule=rule, port=443)["got"], "hello")  # the control

    def test_budgets_end_a_connection(self):
        for word in ("up", "down"):
            bulk = Bulk()
            server = self.server(bulk)
            rule = f"web.test:{server.port}=127.0.0.1:{server.port}," + word + "={}"
            said = self.record("bulk", "web.test", server.port, "--allow-host", rule.format("1MiB"))
            self.denied(said, "web.test")
            if word == "up":
                self.assertLessEqual(bulk.count, MIB)
        self.reached("bulk", self.server(Bulk()), rule="web.test:{0}=127.0.0.1:{0},up=21MiB,down=21MiB")  # the control

    def test_a_hundred_at_once(self):
        server = self.server(serve_echo)
        self.assertEqual(self.reached("echo_many", server), {"count": 100, "failures": []})
        self.assertEqual(server.heard, 100)

    def test_a_half_close_stays_half(self):
        self.assertEqual(self.reached("half_close", self.server(serve_echo))["got"], "all of it")

    def test_a_reset_arrives_as_one(self):
        self.assertTrue(self.reached("how_it_ends", self.server(serve_with_reset))["reset"])
        self.assertFalse(self.reached("how_it_ends", self.server(lambda sock: sock.recv(100)))["reset"])  # the control

    def test_much_goes_both_ways_unchanged(self):
        bulk = Bulk()
        said = self.reached("bulk", self.server(bulk))
        self.assertEqual((said["count"], bulk.count), (20 * MIB, 20 * MIB))
        self.assertEqual((said["sent"], said["got"]), (bulk.got.hexdigest(), bulk.sent.hexdigest()))

    def test_names_are_answered_by_datagrams(self):
        web = self.server(serve_http)
        said = self.record("by_datagrams", "web.test", web.port, "--allow-host", f"web.test:{web.port}=127.0.0.1:{web.port}")
        answers = json.loads(said["stdout"])
        self.assertEqual(answers["web.test A"], [0, 1, "127.0.0.1", "127.64.0.1"])
        self.assertEqual(answers["web.test AAAA"], [0, 0, "127.0.0.1", ""])
        self.assertEqual(answers["other.test A"][:3], [3, 0, "127.0.0.1"])
        self.assertEqual(said["denials"][0]["host"], "other.test")

    def test_the_tools_own_loopback_is_its_own(self):
        web = self.server(serve_http)
        self.assertEqual(self.reached("own_loopback", web), {"got": "mine", "refused": True})
        self.assertEqual(web.heard, 0)

    def test_too_many_names_and_ports_are_refused(self):
        rules = [word for number in range(520) for word in ("--allow-host", f"h{number}.test:443=127.0.0.1:1")]
        said = self.record("fetch", "h1.test", 443, *rules)
        self.assertEqual(said["error"]["kind"], "invalid_request", said)

    def test_nothing_is_left_when_the_owner_is_killed(self):
        server = self.server(lambda sock: read_to_end(sock))
        owner = subprocess.Popen(self.command("hold", "web.test", server.port, "--allow-host", f"web.test:{server.port}=127.0.0.1:{server.port}"),
                                 cwd=self.repo, stdout=subprocess.DEVNULL)
        self.assertTrue(wait_until(lambda: server.heard == 1))
        self.assertEqual(server.ended, 0)
        self.watch()
        owner.send_signal(signal.SIGKILL)
        owner.wait()
        self.assertTrue(wait_until(lambda: server.ended == 1), "the connection lives on")
        self.assertTrue(wait_until(lambda: not self.left()), self.left())
        self.assertEqual(self.reached("half_close", self.server(serve_echo))["got"], "all of it")
        self.after_next_start()


class InGvisor(Cases, unittest.TestCase):
    @classmethod
    def prepare(cls):
        pass

    def jail(self):
        return ("--jail", "gvisor")

    def watch(self):
        """While it runs: its bundle, which all of gVisor's processes name."""
        ours = [path.parent.parent for path in Path("/tmp").glob("sallyport-*/bundle/config.json") if self.is_ours(path)]
        self.assertEqual(len(ours), 1)
        self.bundle = str(ours[0]).encode()
        self.assertTrue(processes_with(self.bundle))

    def is_ours(self, config):
        try:
            return str(self.repo) in config.read_text(encoding="utf-8")
        except OSError:
            return False

    def left(self):
        return processes_with(self.bundle)

    def after_next_start(self):
        pass


class InEngine(Cases):
    @classmethod
    def prepare(cls):
        cls.engine = cls.make_engine(cls.dir)
        cls.addClassCleanup(cls.engine.stop)
        root = cls.dir / "image"
        python = Path(os.path.realpath("/usr/bin/python3"))  # of the system, whose library is where it says
        copy_programs(root, {"usr/bin/python3": python} | {
            str(file)[1:]: file for file in Path(f"/usr/lib/{python.name}/lib-dynload").glob("*.so")})
        shutil.copytree(f"/usr/lib/{python.name}", root / f"usr/lib/{python.name}", dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("test", "__pycache__", "idlelib", "tkinter"))
        (root / "tmp").mkdir()
        cls.engine.import_root(root, "python:test")

    def jail(self):
        return self.engine.options("python:test")

    def watch(self):
        self.assertTrue(self.left())

    def left(self):
        return processes_with(b"client.py\0hold", b"python3\0")

    def after_next_start(self):
        self.assertTrue(wait_until(lambda: self.engine.containers() == []), self.engine.containers())
        # While the engine itself is removing one, its directory is left to the start after that.
        self.assertEqual(self.reached("half_close", self.server(serve_echo))["got"], "all of it")
        held = [path for path in Path("/tmp").glob("sallyport-*/held-elsewhere") if str(self.dir) in path.read_text(encoding="utf-8")]
        self.assertEqual(held, [])


class InPodman(InEngine, unittest.TestCase):
    make_engine = Podman


class InDocker(InEngine, unittest.TestCase):
    make_engine = Docker


NEEDS = {"InGvisor": ("runsc",), "InPodman": ("podman",), "InDocker": ("docker", "dockerd")}


def main():
    global ARGS
    parser = argparse.ArgumentParser()
    parser.add_argument("--sallyport", type=Path, required=True)
    ARGS, rest = parser.parse_known_args()
    wanted = {name: programs for name, programs in NEEDS.items() if any(word.startswith(name) for word in rest)}
    if any(name != "InGvisor" for name in wanted) and os.geteuid() != 0:
        print("skipped: engines of our own need root")
        return 77
    missing = sorted({program for programs in wanted.values() for program in programs if shutil.which(program) is None})
    if missing:
        print(f"error: {' '.join(missing)} missing; tools/setup.sh long installs it", file=sys.stderr)
        return 1
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
