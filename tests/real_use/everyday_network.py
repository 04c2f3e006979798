#!/usr/bin/python3
"""A company's network: its proxy, its certificates, its odd addresses; and a cut one that says so. See everyday.py."""

import base64
import json
import select
import socket
import ssl
import subprocess
import threading

import everyday
from everyday import Everyday

FETCH = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=20).read().decode())"


class Server:
    """Accepts on loopback and gives each connection to `serve`."""

    def __init__(self, serve):
        self.serve = serve
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.guarded, args=(client,), daemon=True).start()

    def guarded(self, client):
        try:
            with client:
                self.serve(client)
        except OSError:
            pass

    def close(self):
        self.listener.close()


def head_of(client):
    head = b""
    while b"\r\n\r\n" not in head:
        piece = client.recv(1)
        if not piece:
            break
        head += piece
    return head.decode("latin-1")


def pump(source, sink):
    try:
        while piece := source.recv(65536):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Certificates:
    """A company that signs for itself."""

    def make_certificates(self, name, server="server"):
        """SERVER.pem and SERVER.key for a host or an address, signed by ca.pem."""
        curve = ("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")

        def openssl(*words):
            self.bare("openssl", *words, cwd=self.root)
        if not (self.root / "ca.pem").exists():
            openssl("req", "-x509", "-newkey", *curve, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=company", "-days", "2")
        openssl("req", "-newkey", *curve, "-keyout", f"{server}.key", "-out", f"{server}.csr", "-subj", f"/CN={name}")
        kind = "IP" if name[0].isdigit() else "DNS"
        (self.root / "names").write_text(f"subjectAltName={kind}:{name}\n", encoding="utf-8")
        openssl("x509", "-req", "-in", f"{server}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile",
                "names", "-out", f"{server}.pem")


class Company(Everyday, Certificates):
    """files.test exists behind the proxy only, and its certificate is the company's own."""

    def setUp(self):
        super().setUp()
        self.python = self.policy("python")
        self.make_certificates("files.test")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.root / "server.pem", self.root / "server.key")
        self.files = Server(lambda client: self.answer(context, client))
        self.heads = []
        self.answers = "HTTP/1.1 200 fine\r\nVia: proxy\r\n\r\n"
        self.proxy = Server(self.tunnel)
        self.make_certificates("127.0.0.1", server="proxy")
        proxys = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        proxys.load_cert_chain(self.root / "proxy.pem", self.root / "proxy.key")
        self.tls_proxy = Server(lambda plain: self.tunnel_in_tls(proxys, plain))
        self.addCleanup(self.files.close)
        self.addCleanup(self.proxy.close)
        self.addCleanup(self.tls_proxy.close)

    @staticmethod
    def answer(context, plain):
        with context.wrap_socket(plain, server_side=True) as client:
            head_of(client)
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nfiles")

    def tunnel(self, client):
        self.heads.append(head_of(client))
        client.sendall(self.answers.encode())
        if " 200 " not in self.answers:
            return
        with socket.create_connection(("127.0.0.1", self.files.port)) as upstream:
            back = threading.Thread(target=pump, args=(upstream, client), daemon=True)
            back.start()
            pump(client, upstream)
            back.join(20)

    def tunnel_in_tls(self, context, plain):
        """The TLS of the way to the proxy, with the tunnel's own bytes inside."""
        inside, outside = socket.socketpair()
        with context.wrap_socket(plain, server_side=True) as client, inside, outside:
            client.settimeout(20)
            tunnel = threading.Thread(target=self.tunnel, args=(outside,), daemon=True)
            tunnel.start()
            lock = threading.Lock()  # one TLS object is no two-way road for threads

            def back():
                while piece := inside.recv(4096):
                    with lock:
                        client.sendall(piece)
                plain.close()
            threading.Thread(target=back, daemon=True).start()
            while select.select([client], [], [], 20)[0]:
                with lock:
                    client.setblocking(False)
                    try:
                        piece = client.recv(65536)
                    except ssl.SSLWantReadError:
                        continue
                    finally:
                        client.setblocking(True)
                if not piece:
                    break
                inside.sendall(piece)
            inside.shutdown(socket.SHUT_WR)
            tunnel.join(20)

    def fetch(self, *options, url="https://files.test/", jail="native", env=None):
        words = [everyday.SALLYPORT, "run", "--jail", jail, "--repo", self.repo, *self.python, "--json", *options, "--", "python3",
                 "-c", FETCH, url]
        ran = subprocess.run([str(word) for word in words], cwd=self.repo, env=self.env() | (env or {}),
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
        return json.loads(ran.stdout)

    def through(self, credentials=""):
        return "--allow-host", "files.test", "--via-proxy", f"http://{credentials}127.0.0.1:{self.proxy.port}"

    def test_an_allowed_host_is_reached_through_the_proxy(self):
        for jail in ("native", "bwrap"):
            record = self.fetch(*self.through(), "--ca", self.root / "ca.pem", jail=jail)
            self.assertEqual((record.get("exit_code"), record.get("stdout")), (0, "files\n"), record)
        self.assertEqual({head.split("\r\n")[0] for head in self.heads}, {"CONNECT files.test:443 HTTP/1.1"})

    def test_a_proxy_that_speaks_tls(self):
        through = ("--allow-host", "files.test", "--via-proxy", f"https://me:secret-word@127.0.0.1:{self.tls_proxy.port}")
        record = self.fetch(*through, "--ca", self.root / "ca.pem")
        self.assertEqual((record.get("exit_code"), record.get("stdout")), (0, "files\n"), record)
        self.assertTrue(self.heads[0].startswith("CONNECT files.test:443 "))
        self.assertIn("Proxy-Authorization: Basic ", self.heads[0])
        self.assertNotIn("secret-word", json.dumps(record))
        # A proxy that nobody vouches for gets neither the request nor the password: here without the company's certificate …
        self.heads.clear()
        record = self.fetch(*through)
        self.assertIn("the proxy: its certificate is not trusted", json.dumps(record["events"]))
        # … and here with one for another name.
        named = ("--allow-host", "files.test", "--via-proxy", f"https://localhost:{self.tls_proxy.port}", "--ca", self.root / "ca.pem")
        self.assertNotEqual(self.fetch(*named).get("exit_code"), 0)
        # One that does not speak TLS at all.
        plain = ("--allow-host", "files.test", "--via-proxy", f"https://127.0.0.1:{self.proxy.port}", "--ca", self.root / "ca.pem")
        self.assertNotEqual(self.fetch(*plain).get("exit_code"), 0)
        self.assertNotIn("CONNECT", "".join(self.heads))

    def test_without_it_the_host_does_not_exist(self):
        record = self.fetch("--allow-host", "files.test", "--ca", self.root / "ca.pem")
        self.assertEqual(record["outcome"], "network_denied", record)
        self.assertEqual(record["denials"][0]["reason"], "name does not resolve")
        self.assertEqual(self.heads, [])

    def test_the_proxy_opens_no_other_host(self):
        record = self.fetch(*self.through(), "--ca", self.root / "ca.pem", url="https://other.test/")
        self.assertEqual((record["outcome"], record["denials"][0]["host"]), ("network_denied", "other.test"), record)
        self.assertEqual(self.heads, [])

    def test_the_tool_cannot_reach_the_proxy_itself(self):
        record = self.fetch(*self.through(), url=f"http://127.0.0.1:{self.proxy.port}/")
        self.assertNotEqual(record.get("exit_code"), 0, record)
        self.assertEqual(self.heads, [])

    def test_the_password_is_for_the_proxy_alone(self):
        record = self.fetch(*self.through("me:s%65cret-word@"), "--ca", self.root / "ca.pem")
        self.assertEqual(record.get("stdout"), "files\n", record)
        sent = base64.b64encode(b"me:secret-word").decode()
        self.assertIn(f"Proxy-Authorization: Basic {sent}\r\n", self.heads[0])
        self.assertNotIn("secret-word", json.dumps(record))
        explained = self.sallyport("explain", "--json", "--repo", self.repo, *self.through("me:secret-word@"), "--", "git", "status")
        self.assertEqual(json.loads(explained.stdout)["plan"]["via_proxy"], f"http://127.0.0.1:{self.proxy.port}")
        self.assertNotIn("secret", explained.stdout)

    def test_a_proxy_that_refuses_is_named(self):
        for answer, words in (("HTTP/1.1 407 who are you\r\n\r\n", "wants a user and a password (407)"),
                              ("HTTP/1.1 403 no\r\n\r\n", "refuses it (403)"), ("SSH-2.0-hello\r\n\r\n", "does not answer in HTTP"),
                              ("HTTP/1.1 200", "the proxy closed the connection")):  # within its answer
            self.answers = answer
            record = self.fetch(*self.through(), "--ca", self.root / "ca.pem")
            self.assertNotEqual(record.get("exit_code"), 0)
            self.assertIn(words, json.dumps(record["events"]))

    def test_a_proxy_that_cannot_be_reached_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as gone:
            url = f"http://127.0.0.1:{gone.getsockname()[1]}"
        record = self.fetch("--allow-host", "files.test", "--via-proxy", url)
        self.assertIn("the proxy: connection refused", json.dumps(record["events"]))

    def test_the_environment_names_one_only_when_asked(self):
        own = {"https_proxy": f"http://127.0.0.1:{self.proxy.port}", "no_proxy": "localhost,.direct.test"}
        hosts = ("--allow-host", "files.test", "--ca", self.root / "ca.pem")
        self.assertEqual(self.fetch(*hosts, "--via-proxy", "env", env=own).get("stdout"), "files\n")
        self.assertEqual(len(self.heads), 1)
        self.assertEqual(self.fetch(*hosts, env=own)["outcome"], "network_denied")
        direct = self.fetch("--allow-host", "x.direct.test", "--via-proxy", "env", env=own, url="https://x.direct.test/")
        self.assertEqual(direct["denials"][0]["reason"], "name does not resolve")
        self.assertEqual(len(self.heads), 1)
        none = self.fetch(*hosts, "--via-proxy", "env")
        self.assertIn("names no proxy", none["error"]["message"])

    def test_a_certificate_of_nobody_is_not_trusted(self):
        """The control of the certificates: without --ca the very same fetch fails."""
        record = self.fetch(*self.through())
        self.assertNotEqual(record.get("exit_code"), 0)
        self.assertIn("CERTIFICATE_VERIFY_FAILED", record["stderr"])

    def test_what_is_no_bundle_is_refused(self):
        (self.repo / "own.pem").write_bytes((self.root / "ca.pem").read_bytes())
        for file, words in ((self.root / "ca.key", "private key"), (self.root / "names", "no certificate"),
                            (self.repo / "own.pem", "the analysed repo"), (self.root / "none", "none")):
            record = self.fetch(*self.through(), "--ca", file)
            self.assertIn(words, record["error"]["message"], record)
        record = self.fetch("--ca", self.root / "ca.pem", "--allow-unjailed", jail="none")
        self.assertIn("without a jail", record["error"]["message"])

    def test_node_trusts_it_too(self):
        script = ("require('https').get('https://files.test/', r => r.on('data', d => process.stdout.write(d)))"
                  ".on('error', e => { console.log(e.code); process.exit(3) })")
        words = ("run", "--repo", self.repo, *self.through(), "--ca", self.root / "ca.pem", "--", "node", "-e", script)
        ran = self.sallyport(*words)
        self.assertEqual((ran.returncode, ran.stdout), (0, "files"), ran.stderr)


class Cut(Everyday):
    def test_a_run_without_hosts_names_what_it_is_denied(self):
        python = self.policy("python")
        for jail in ("native", "bwrap"):
            ran = self.run_tool("python3", "-c", "import socket; socket.create_connection(('where.test', 443))", options=python,
                                jail=jail)
            self.assertNotEqual(ran.returncode, 0)
            self.assertIn("denied where.test: no host is allowed", ran.stderr, jail)
            self.assertIn("--allow-host where.test", ran.stderr)

    def test_nothing_gets_out_of_either(self):
        """A listener of the host's, on its loopback: the control reaches it, a jailed tool does not."""
        heard = []
        server = Server(lambda client: heard.append(client.recv(4)))
        self.addCleanup(server.close)
        script = f"import socket; socket.create_connection(('127.0.0.1', {server.port}), 5).send(b'here')"
        self.bare("python3", "-c", script)
        for jail in ("native", "bwrap"):
            self.run_tool("python3", "-c", script, options=self.policy("python"), jail=jail)
        self.assertEqual(heard, [b"here"])


if __name__ == "__main__":
    everyday.main()
